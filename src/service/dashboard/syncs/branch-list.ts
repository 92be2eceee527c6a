import { setTimeout as sleep } from 'node:timers/promises';
import { grants } from '../../../interface/scopes.ts';
import { parseBranchName } from '../../git/branch-name.ts';
import { shownRemote } from '../../git/remote.ts';
import { requireFreeDisk } from '../../http/access.ts';
import type { App } from '../../http/operation.ts';
import type { Answer } from '../../http/problem-answer.ts';
import { unfinishedSyncs } from '../../syncs/list.ts';
import { startPrepared } from '../../syncs/trigger.ts';
import type { KnownRemote } from '../../workspaces/remote-memory.ts';
import { branchStandings, isOutdated } from '../../workspaces/standing.ts';
import { type SyncedBranches, syncedBranches } from '../../workspaces/synced-branches.ts';
import type { StoredWorkspace } from '../../workspaces/workspaces.ts';
import { seeOther } from '../answer.ts';
import type { DashboardParts } from '../dashboard.ts';
import { showPage } from '../layout.ts';
import { type ActionCall, addAction, addPage, type PageCall, queryOf, workspaceOf } from '../page.ts';
import { recentMs } from '../pages/workspace-list.ts';
import { branchSummary } from './branch-summary.ts';
import { branchPage, type RefusedBranch } from './branch-table.ts';

/** Most remotes answer within it; a page that takes longer seems broken. */
const patienceMs = 1_000;
/** A page that is opened again at once need not ask again. */
const answerHoldsMs = 5_000;
const failureHoldsMs = 30_000;

interface AskedRemote {
  readonly known: KnownRemote;
  /** It has not answered yet. */
  readonly isAwaited: boolean;
}

export function addBranchPages(app: App, parts: DashboardParts): void {
  const { storage, remoteMemory, prepareSync, onQueued } = parts;

  async function askBriefly(call: PageCall, workspace: StoredWorkspace, synced: SyncedBranches): Promise<AskedRemote> {
    const before = remoteMemory.known(workspace);
    const holdsMs = before.failure === undefined ? answerHoldsMs : failureHoldsMs;
    if (!isOutdated(before, synced, call.now, holdsMs)) return { known: before, isAwaited: false };
    const answer = remoteMemory.ask(workspace).then((known) => ({ known, isAwaited: false }));
    // Once the page is shown, nobody is there to be told of what else goes wrong.
    answer.catch(() => undefined);
    const waiting = new AbortController();
    // A remote that was silent a while ago most probably still is.
    const patience = sleep(before.failure === undefined ? patienceMs : 0, { known: before, isAwaited: true }, waiting);
    patience.catch(() => undefined);
    return Promise.race([answer, patience]).finally(() => waiting.abort());
  }

  async function show(call: PageCall, workspace: StoredWorkspace, refused?: RefusedBranch): Promise<Answer> {
    const { id, remote } = workspace;
    const maySync = grants(call.bearer.scopes, 'sync');
    const [synced, unfinished] = await Promise.all([
      syncedBranches(storage, id),
      maySync ? unfinishedSyncs(storage, id) : [],
    ]);
    const asked = await askBriefly(call, workspace, synced);
    const main = branchPage(call, {
      ...asked,
      workspace: id,
      remote: shownRemote(remote),
      branches: branchStandings(asked.known, synced),
      unfinished: new Map(unfinished.map((sync) => [sync.branch, sync])),
      maySync,
      query: queryOf(call, 'search', 'show', 'page'),
      refused,
    });
    const place = { section: 'workspaces', workspace: id, tab: 'branches' } as const;
    const view = { title: `Branches of ${id}`, place, main, scripts: ['branches.js'], styles: ['syncs.css'] };
    return showPage(call, view, refused === undefined ? 200 : 422);
  }

  async function start(call: ActionCall): Promise<Answer> {
    const workspace = await workspaceOf(call, storage);
    requireFreeDisk(parts);
    const typed = call.form.text('branch').replaceAll(/^ +|(?<! ) +$/g, '');
    const branch = parseBranchName(typed);
    if (!branch.ok) return show(call, workspace, { typed, why: branch.why });
    const preparation = await prepareSync(workspace, branch.value);
    const wanted = { workspace: workspace.id, branch: branch.value, requestedBy: call.bearer.name };
    const started = await storage.commit({ workspace: workspace.id }, (db) =>
      startPrepared(db, storage.now, wanted, preparation),
    );
    if (started.kind === 'unknown-branch') return show(call, workspace, { typed, why: started.why });
    onQueued();
    return seeOther(`/workspaces/${workspace.id}/syncs/${started.sync.sync_id}`);
  }

  addPage(app, parts, { path: '/workspaces/:id', access: 'any-token' }, async (call) =>
    show(call, await workspaceOf(call, storage)),
  );

  addAction(app, parts, { path: '/workspaces/:id/sync', access: 'sync' }, start);

  /** For pages that are shown already: answers when the remote has, or will not. */
  addPage(app, parts, { path: '/workspaces/:id/summary', access: 'any-token' }, async (call) => {
    const workspace = await workspaceOf(call, storage);
    const synced = await syncedBranches(storage, workspace.id);
    const before = remoteMemory.known(workspace);
    const isWanted = queryOf(call, 'awaited').awaited !== '' || isOutdated(before, synced, call.now, recentMs);
    const known = isWanted ? await remoteMemory.ask(workspace) : before;
    return {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      },
      body: JSON.stringify(branchSummary(known, synced)),
    };
  });
}
