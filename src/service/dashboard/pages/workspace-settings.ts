import { html } from 'hono/html';
import type { Lock } from '../../../interface/resources.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { GitError } from '../../git/git-error.ts';
import { shownRemote } from '../../git/remote.ts';
import { type App, actorOf } from '../../http/context.ts';
import { listLocks } from '../../locks/list.ts';
import { listHooks } from '../../webhooks/hook-overview.ts';
import { listBranchesTimeout } from '../../workspaces/remotes.ts';
import { type EndedLocks, maxNamedLocks, removeWorkspaceInPieces } from '../../workspaces/remove-workspace.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import {
  addWorkspaceAudited,
  countHeldLocks,
  type FoundWorkspace,
  updateWorkspaceAudited,
} from '../../workspaces/workspaces.ts';
import { plural } from '../assets/text.js';
import { buttonLink, type FormField, postForm } from '../elements/fields.ts';
import { link } from '../elements/list.ts';
import { listAddress } from '../elements/lock-list.ts';
import { literal, type Markup, notice, userText } from '../elements/text.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { type ActionCall, addAction, addPage, type PageCall, queryOf, requestedWorkspace } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { seeOther } from '../frame/response.ts';
import { branchesOf } from './branches.ts';
import {
  type EnteredWorkspace,
  enteredWorkspace,
  newWorkspaceDefaults,
  readWorkspace,
  storedWorkspace,
  type WorkspaceErrors,
  type WorkspaceRequest,
  workspaceForm,
} from './workspace-form.ts';

const access = 'admin';
const settings = { path: '/workspaces/:id/settings', access } as const;
const removal = { path: '/workspaces/:id/remove', access } as const;

/** Pages to add, change and remove workspaces. A remote must answer before it is stored. */
export function addWorkspaceSettingsPages(app: App, parts: DashboardParts): void {
  const { storage, remotes, removeFiles } = parts;

  function show(
    call: PageCall,
    entered: EnteredWorkspace,
    errors: WorkspaceErrors,
    stored?: FoundWorkspace,
  ): Promise<ApiResponse> {
    const form = workspaceForm(entered, errors, stored);
    const status = Object.keys(errors).length === 0 ? 200 : 422;
    if (stored === undefined) {
      return showPage(call, { title: 'Add a workspace', location: { section: 'workspaces' }, main: form }, status);
    }
    const saved = queryOf(call, 'notice').notice === 'saved' ? 'The workspace was changed.' : undefined;
    const actions = html`<a class="button danger" href="/workspaces/${stored.id}/remove">Remove…</a>`;
    const main = html`${notice(saved)}${form}`;
    return showPage(call, { title: 'Settings', actions, location: inWorkspace(stored.id, 'settings'), main }, status);
  }

  /** Reason why the remote does not answer; undefined if it does. */
  async function connectionFailure(id: string, { remote }: WorkspaceRequest): Promise<string | undefined> {
    if (remote === undefined) return undefined;
    try {
      await remotes.branches({ id, remote }, listBranchesTimeout);
      return undefined;
    } catch (error) {
      if (error instanceof GitError) return error.message;
      throw error;
    }
  }

  addPage(app, parts, { path: '/new-workspace', access }, (call) => show(call, newWorkspaceDefaults, {}));

  addAction(app, parts, { path: '/new-workspace', access }, async (call) => {
    const entered = enteredWorkspace(call.form);
    const id = parseWorkspaceId(entered.id);
    const read = readWorkspace(entered, undefined);
    if (!read.ok || !id.ok) {
      const others = read.ok ? {} : read.errors;
      return show(call, entered, { ...(!id.ok && { id: id.reason }), ...others });
    }
    const request = read.value;
    const reason = await connectionFailure(id.value, request);
    if (reason !== undefined) return show(call, entered, { remote: reason });
    const workspace = { id: id.value, ...request.settings, remote: request.remote ?? '' };
    const fresh = await storage.commit({ workspace: id.value }, (db) =>
      addWorkspaceAudited(db, storage.now, actorOf(call.c), workspace),
    );
    if (!fresh) return show(call, entered, { id: 'A workspace with this name already exists. Choose another name.' });
    return seeOther(branchesOf(id.value));
  });

  addPage(app, parts, settings, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    return show(call, storedWorkspace(workspace), {}, workspace);
  });

  addAction(app, parts, settings, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    const { id } = workspace;
    const entered = enteredWorkspace(call.form);
    const read = readWorkspace(entered, workspace);
    if (!read.ok) return show(call, entered, read.errors, workspace);
    const { remote, settings } = read.value;
    const reason = await connectionFailure(id, read.value);
    if (reason !== undefined) return show(call, entered, { remote: reason }, workspace);
    const change = { id, ...settings, ...(remote !== undefined && { remote }) };
    await storage.commit({ workspace: id }, (db) => updateWorkspaceAudited(db, storage.now, actorOf(call.c), change));
    return seeOther(`/workspaces/${id}/settings?notice=saved`);
  });

  const stillLocked = (id: string, locks: readonly Lock[], count: number): Markup =>
    html`<p class="warning" role="alert"><strong>${plural(count, 'lock')} ${count === 1 ? 'is' : 'are'} held in it.</strong>
      Their holders rely on them. Wait until they expire, or ${link(listAddress(id), 'release them')} first.</p>${namedLocks({ named: locks, count })}`;

  async function askToRemove(call: PageCall, { id, remote }: FoundWorkspace, locks: number): Promise<ApiResponse> {
    const held = locks > 0 ? (await listLocks(storage, { workspace: id, limit: maxNamedLocks })).locks : [];
    const hooks = await listHooks(storage.read, id);
    const waiting = hooks.reduce((sum, hook) => sum + hook.pending_deliveries, 0);
    const main = html`
      ${locks > 0 ? stillLocked(id, held, locks) : ''}
      <p>The workspace ${userText(id)} is a mirror of ${literal(shownRemote(remote))}. The repository itself stays as it is. What is lost:</p>
      <ul>
        <li>the mirror with its LFS objects, and the history of syncs and of locks${hooks.length === 0 ? '.' : ';'}</li>
        ${hooks.length === 0 ? '' : html`<li>${plural(hooks.length, 'webhook')}${waiting === 0 ? '' : `, and ${plural(waiting, 'pending delivery', 'pending deliveries')} that will never be sent`}.</li>`}
      </ul>
      <p>Workflows that use it will fail. This cannot be undone.</p>
      ${postForm({
        action: `/workspaces/${id}/remove`,
        fields: locks > 0 ? [forceField] : [],
        button: 'Remove workspace',
        kind: 'danger',
        cancel: buttonLink(`/workspaces/${id}/settings`, 'Cancel'),
      })}`;
    const view = { title: 'Remove this workspace?', location: inWorkspace(id, 'settings'), main };
    return showPage(call, view, locks > 0 && call.c.req.method === 'POST' ? 409 : 200);
  }

  addPage(app, parts, removal, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    return askToRemove(call, workspace, await countHeldLocks(storage.read, storage.now, workspace.id));
  });

  addAction(app, parts, removal, async (call: ActionCall) => {
    const workspace = await requestedWorkspace(call, storage);
    const { id } = workspace;
    const removed = await removeWorkspaceInPieces(
      { storage, commitReleases: parts.locks.commitReleases },
      actorOf(call.c),
      id,
      {
        force: call.form.text('force') === 'yes',
      },
    );
    if (removed.kind === 'locked') return askToRemove(call, workspace, removed.locks);
    await removeFiles(id);
    if (removed.kind === 'unknown' || removed.ended.count === 0) return seeOther('/?notice=removed');
    const main = html`${notice(`The workspace was removed. ${plural(removed.ended.count, 'lock')} ended with it:`)}
      ${namedLocks(removed.ended)}<div class="actions">${link('/', 'All workspaces')}</div>`;
    return showPage(call, { title: 'Workspace removed', location: { section: 'workspaces' }, main });
  });
}

const forceField: FormField = {
  id: 'force',
  title: 'Force',
  render: () => html`<p><input type="checkbox" id="force" name="force" value="yes" required>
    <label for="force">End all locks, including those of other owners</label></p>`,
};

const namedLocks = ({ named, count }: EndedLocks): Markup =>
  html`<ul>${named.map(({ path, owner }) => html`<li>${literal(path)}, held by ${userText(owner)}</li>`)}
    ${count > named.length ? html`<li>and ${plural(count - named.length, 'more', 'more')}</li>` : ''}</ul>`;
