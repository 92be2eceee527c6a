import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { grants } from '../../../interface/scopes.ts';
import { withinMs } from '../../../interface/timers.ts';
import { jsonApiResponse } from '../../contract/response.ts';
import type { Sync } from '../../contract/schemas.ts';
import { parseBranchName } from '../../git/branch-name.ts';
import { redactRemote } from '../../git/remote.ts';
import { requireFreeDisk } from '../../http/access.ts';
import { usageOf } from '../../lfs/usage.ts';
import { safeText } from '../../platform/safe-text.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { unfinishedSyncs } from '../../syncs/list.ts';
import { enqueue } from '../../syncs/queue.ts';
import {
  type BranchState,
  type BranchStatus,
  branchStates,
  branchStatuses,
  countBranchStates,
  isOutdated,
} from '../../workspaces/branch-state.ts';
import type { KnownRemote } from '../../workspaces/remote-memory.ts';
import { type SyncedBranches, syncedBranches } from '../../workspaces/synced-branches.ts';
import { filterForm, postForm, selection, textInput } from '../elements/fields.ts';
import { hiddenHeading, htmlTable, numberedPages, type Row, urlWith } from '../elements/list.ts';
import { listUrl } from '../elements/lock-list.ts';
import { type ObjectUsage, objectUsage } from '../elements/object-usage.ts';
import { empty, literal, type Markup, safeLines, time, userText } from '../elements/text.ts';
import { filledIn } from '../frame/form.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  charge,
  type PageCall,
  queryOf,
  type Site,
  type View,
  type WorkspaceCall,
} from '../frame/page.ts';
import { branchSummary, recentMs } from './workspaces.ts';

/** A branch that could not be synced, as entered. */
interface RefusedBranch {
  readonly entered: string;
  readonly reason: string;
}

interface BranchView {
  readonly workspace: string;
  /** Remote URL, without credentials. */
  readonly remote: string;
  readonly known: KnownRemote;
  /** True if the remote has not answered yet. */
  readonly isAwaited: boolean;
  readonly branches: readonly BranchStatus[];
  /** Unfinished syncs, by branch. */
  readonly unfinished: ReadonlyMap<string, Sync>;
  readonly maySync: boolean;
  readonly objects: ObjectUsage;
  readonly query: { readonly search: string; readonly show: string; readonly page: string };
  readonly refused: RefusedBranch | undefined;
}

/** Timeout for the remote. Most answer within this time, and a slower page seems broken. */
const timeoutMs = 1_000;
/** Time for which an answer is reused, such as when the page is reloaded immediately. */
const listingReuseMs = 5_000;
const failureReuseMs = 30_000;

type RemoteAnswer = Pick<BranchView, 'known' | 'isAwaited'>;

export function addBranchPages(site: Site): void {
  const { storage, remoteMemory, prepareSync } = site;

  addWorkspaceAction(site, { path: '/sync', access: 'sync' }, async (call) => {
    const { workspace } = call;
    requireFreeDisk(site);
    const entered = call.form.text('branch').replaceAll(/^ +|(?<! ) +$/g, '');
    const branch = parseBranchName(entered);
    if (!branch.ok) return branchView(site, call, { entered, reason: branch.reason });
    const prepared = await prepareSync(workspace, branch.value);
    if (!prepared.ok) return branchView(site, call, { entered, reason: prepared.reason });
    const requested = { estimatedObjects: prepared.value, requestedBy: call.bearer.name };
    const { sync_id } = await storage.commit({ workspace: workspace.id }, (db) =>
      enqueue(db, storage.now, { workspace: workspace.id, branch: branch.value, ...requested }),
    );
    return { to: `/workspaces/${workspace.id}/syncs/${sync_id}` };
  });

  /** Redirects a workspace to its locks, if the token may see them. */
  addWorkspacePage(site, { path: '', access: 'any-token' }, async ({ workspace: { id }, bearer }) => ({
    to: grants(bearer.scopes, 'locks:read') ? listUrl(id) : branchesUrl(id),
  }));

  addWorkspacePage(site, { path: '/branches', access: 'any-token' }, (call) => branchView(site, call));

  /** For scripts of open pages: responds when the remote has answered or failed. */
  addWorkspacePage(site, { path: '/summary', access: 'any-token' }, async (call) => {
    const { workspace } = call;
    const synced = await charge(site, call, () => syncedBranches(storage, workspace.id));
    const before = remoteMemory.known(workspace);
    const isWanted = queryOf(call, 'awaited').awaited !== '' || isOutdated(before, synced, call.now, recentMs);
    const asked = isWanted ? await remoteMemory.ask(workspace) : before;
    // The request may have been running since before the last sync.
    const known = isOutdated(asked, synced, call.now, recentMs) ? await remoteMemory.ask(workspace) : asked;
    return charge(site, call, async () => jsonApiResponse(200, branchSummary(known, synced)));
  });
}

async function branchView(site: Site, call: WorkspaceCall, refused?: RefusedBranch): Promise<View> {
  const { storage } = site;
  const { id, remote, lfs_limit: limitBytes } = call.workspace;
  const maySync = grants(call.bearer.scopes, 'sync');
  // The time that the remote takes to answer is not charged.
  const [synced, unfinished, usage] = await charge(site, call, () =>
    Promise.all([syncedBranches(storage, id), maySync ? unfinishedSyncs(storage, id) : [], usageOf(storage, id)]),
  );
  const answer = await askBriefly(site, call, synced);
  const main = await charge(site, call, async () =>
    branchPage(call, {
      ...answer,
      workspace: id,
      remote: redactRemote(remote),
      branches: branchStatuses(answer.known, synced),
      unfinished: new Map(unfinished.map((sync) => [sync.branch, sync])),
      maySync,
      objects: { usage, limitBytes, space: site.freeDisk.space() },
      query: queryOf(call, 'search', 'show', 'page'),
      refused,
    }),
  );
  return { title: 'Branches', main, script: 'remotes.js', status: refused === undefined ? 200 : 422 };
}

async function askBriefly(
  { remoteMemory }: Site,
  { workspace, now }: WorkspaceCall,
  synced: SyncedBranches,
): Promise<RemoteAnswer> {
  const before = remoteMemory.known(workspace);
  const reuseMs = before.failure === undefined ? listingReuseMs : failureReuseMs;
  if (!isOutdated(before, synced, now, reuseMs)) return { known: before, isAwaited: false };
  const response = remoteMemory.ask(workspace).then((known) => ({ known, isAwaited: false }));
  // Do not wait for a remote that recently failed to answer.
  return withinMs(response, before.failure === undefined ? timeoutMs : 0, { known: before, isAwaited: true });
}

const worthFiltering = 10;

function branchPage(call: PageCall, view: BranchView): Markup {
  const { branches, maySync, known, query, refused } = view;
  const isFiltered = query.search !== '' || query.show !== '';
  const what = known.listing === undefined ? 'synced branch' : 'branch';
  const count = pluralize(branches.length, what, `${what}es`);
  return html`<div data-part="branches">
    <p class="faint">Mirror of ${literal(view.remote)} · ${count}</p>
    ${objectUsage(view.objects)}
    ${remoteState(view, call.now)}
    ${maySync && (known.listing === undefined || refused !== undefined) ? nameForm(view) : ''}
    ${branches.length > worthFiltering || isFiltered ? branchFilter(view) : ''}
    ${branches.length === 0 ? noBranches(view) : branchTable(call, view)}
  </div>`;
}

function remoteState(view: BranchView, now: number): Markup {
  const { known, isAwaited, workspace, query, refused } = view;
  const { failure } = known;
  const listing = listingText(view, now);
  // Do not refresh a page that shows a rejected form.
  const awaits = refused === undefined ? html` data-awaits="/workspaces/${workspace}/summary?awaited=true"` : '';
  const awaited = isAwaited
    ? html`<p class="notice"${awaits} role="status"><span>The remote has not answered yet.</span> ${failure === undefined ? listing : ''} <a href="${branchListUrl(workspace, query)}">Refresh</a></p>`
    : '';
  if (failure === undefined) return html`${awaited}`;
  return html`<div class="warning">
      <p><strong>The remote did not answer.</strong> It was asked ${time(asTimestamp(failure.askedAt), now)}. ${listing}</p>
      <p class="lines">${safeLines(failure.reason)}</p>
    </div>${awaited}`;
}

function listingText({ known: { listing }, branches }: BranchView, now: number): Markup | string {
  if (listing === undefined) return branches.length === 0 ? '' : 'The branches below are those that have been synced.';
  return html`The branches below are as of ${time(asTimestamp(listing.askedAt), now)}.`;
}

const nameForm = ({ workspace, refused }: BranchView): Markup =>
  postForm({
    action: `/workspaces/${workspace}/sync`,
    values: filledIn({ branch: refused?.entered ?? '' }),
    fields: [textInput('branch', 'Sync a branch by name', { attributes: html` required` })],
    errors: { branch: refused && userText(refused.reason) },
    button: 'Sync',
  });

const stateNames: Readonly<Record<BranchState, string>> = {
  behind: 'behind',
  current: 'up to date',
  unsynced: 'never synced',
  unknown: 'unknown',
};

const branchFilter = ({ workspace, query, branches }: BranchView): Markup => {
  const counts = countBranchStates(branches);
  const offered = branchStates.filter((state) => counts[state] > 0 || state === query.show);
  return filterForm({
    action: branchesUrl(workspace),
    values: query,
    fields: [
      textInput('search', 'Branch', { type: 'search' }),
      selection('show', 'Show', [
        ['', `all (${branches.length})`],
        ...offered.map((state) => [state, `${stateNames[state]} (${counts[state]})`] as const),
      ]),
    ],
    button: 'Filter',
    showAll: query.search === '' && query.show === '' ? undefined : 'Show all branches',
  });
};

function noBranches({ known, isAwaited }: BranchView): Markup {
  if (known.listing !== undefined)
    return empty('The remote has no branches yet.', 'Push one, and it can be synced here.');
  return isAwaited
    ? html``
    : empty('Nothing has been synced yet.', 'The remote does not answer, so its branches are unknown.');
}

const pageSize = 200;

function branchTable(call: PageCall, view: BranchView): Markup {
  const { workspace, query, branches } = view;
  const search = query.search.trim().toLowerCase();
  const found = branches.filter(
    ({ name, state }) =>
      name.toLowerCase().includes(search) && (state === query.show || !branchStates.some((one) => one === query.show)),
  );
  if (found.length === 0) return empty('No branch matches.', html`<a href="?">Show all branches</a>`);
  const pages = Math.ceil(found.length / pageSize);
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.page)) || 1));
  const rows = found.slice((page - 1) * pageSize, page * pageSize).map((branch) => row(call, view, branch));
  return html`${htmlTable(rows)}
    ${numberedPages({ page, pages }, (to) => branchListUrl(workspace, { ...query, page: String(to) }))}`;
}

function row(call: PageCall, view: BranchView, { name, state, head, synced, isDefault }: BranchStatus): Row {
  const { workspace, unfinished, maySync } = view;
  const sync = unfinished.get(name);
  const running =
    sync === undefined
      ? ''
      : html` <a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.sync_id}">${sync.status}</a>`;
  return [
    ['Branch', html`${literal(name)}${isDefault ? html` <span class="faint">default</span>` : ''}`, 'head'],
    ['State', html`<span class="state ${state}">${stateNames[state]}</span>${running}`],
    ['At the remote', commit(head), 'wide'],
    ['Synced', commit(synced?.head), 'wide'],
    ['When', synced === undefined ? '' : time(asTimestamp(synced.syncedAt), call.now)],
    maySync ? [hiddenHeading('Sync'), syncForm(workspace, name)] : '',
  ];
}

/** Enough digits to distinguish commits. The full hash is shown on hover. */
const shownDigits = 10;

const commit = (head: string | undefined): Markup | string =>
  head === undefined ? '' : html`<code title="${head}">${head.slice(0, shownDigits)}</code>`;

const syncForm = (workspace: string, branch: string): Markup =>
  html`<form method="post" action="/workspaces/${workspace}/sync"><input type="hidden" name="branch" value="${branch}"><button>Sync<span class="visually-hidden"> ${safeText(branch)}</span></button></form>`;

const branchListUrl = (workspace: string, query: BranchView['query']): string => urlWith(branchesUrl(workspace), query);

export const branchesUrl = (workspace: string): string => `/workspaces/${workspace}/branches`;
