import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { GitError } from '../../git/git-error.ts';
import { redactRemote } from '../../git/remote.ts';
import { actorOf } from '../../http/context.ts';
import { listLocks } from '../../locks/list.ts';
import { listHooks } from '../../webhooks/hook-overview.ts';
import { listBranchesTimeout } from '../../workspaces/remotes.ts';
import { type EndedLocks, maxNamedLocks, removeWorkspaceInBatches } from '../../workspaces/remove-workspace.ts';
import {
  addWorkspaceAudited,
  countActiveLocks,
  type FoundWorkspace,
  updateWorkspaceAudited,
} from '../../workspaces/workspaces.ts';
import { buttonLink, type FormField, postForm } from '../elements/fields.ts';
import { link } from '../elements/list.ts';
import { listUrl } from '../elements/lock-list.ts';
import { literal, type Markup, userText } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import { addAction, addPage, addWorkspaceAction, addWorkspacePage, type Site, type View } from '../frame/page.ts';
import { branchesUrl } from './branches.ts';
import {
  newWorkspaceDefaults,
  readWorkspace,
  storedWorkspace,
  type WorkspaceErrors,
  workspaceForm,
} from './workspace-form.ts';

const access = 'admin';
const settings = { path: '/settings', access } as const;
const removal = { path: '/remove', access } as const;

/** A remote must answer before it is stored. */
export function addWorkspaceSettingsPages(site: Site): void {
  const { storage } = site;

  addPage(site, { path: '/new-workspace', access }, async () => settingsView(newWorkspaceDefaults, {}));

  addAction(site, { path: '/new-workspace', access }, async ({ c, form }) => {
    const read = await readConnected(site, form);
    if (!read.ok) return settingsView(form, read.errors);
    const { id, remote = '', settings } = read.value;
    const fresh = await storage.commit({ workspace: id }, (db) =>
      addWorkspaceAudited(db, storage.now, actorOf(c), { id, remote, ...settings }),
    );
    if (!fresh) return settingsView(form, { id: 'A workspace with this name already exists. Choose another name.' });
    return { to: branchesUrl(id) };
  });

  addWorkspacePage(site, settings, async (call) => settingsView(storedWorkspace(call.workspace), {}, call.workspace));

  addWorkspaceAction(site, settings, async ({ c, form, workspace }) => {
    const read = await readConnected(site, form, workspace);
    if (!read.ok) return settingsView(form, read.errors, workspace);
    const { id, remote, settings } = read.value;
    const change = { id, ...settings, ...(remote !== undefined && { remote }) };
    await storage.commit({ workspace: id }, (db) => updateWorkspaceAudited(db, storage.now, actorOf(c), change));
    return { to: `/workspaces/${id}/settings`, notice: 'workspace-saved' };
  });
}

function settingsView(values: Form, errors: WorkspaceErrors, stored?: FoundWorkspace): View {
  const form = workspaceForm(values, errors, stored);
  const status = Object.keys(errors).length === 0 ? 200 : 422;
  if (stored === undefined) return { title: 'Add a workspace', main: form, status };
  const actions = html`<a class="button danger" href="/workspaces/${stored.id}/remove">Remove…</a>`;
  return { title: 'Settings', actions, main: form, status };
}

/** The settings in the form, if the remote answers. */
async function readConnected(
  { remotes }: Site,
  form: Form,
  stored?: FoundWorkspace,
): Promise<ReturnType<typeof readWorkspace>> {
  const read = readWorkspace(form, stored);
  if (!read.ok || read.value.remote === undefined) return read;
  const { id, remote } = read.value;
  try {
    await remotes.branches({ id, remote }, listBranchesTimeout);
    return read;
  } catch (error) {
    if (error instanceof GitError) return { ok: false, errors: { remote: error.message } };
    throw error;
  }
}

export function addWorkspaceRemovalPages(site: Site): void {
  const { storage, locks, removeFiles } = site;

  addWorkspacePage(site, removal, async ({ workspace }) =>
    removalView(site, workspace, await countActiveLocks(storage.read, storage.now, workspace.id)),
  );

  addWorkspaceAction(site, removal, async ({ workspace, c, form }) => {
    const { id } = workspace;
    const removal = { storage, commitReleases: locks.commitReleases };
    const removed = await removeWorkspaceInBatches(removal, actorOf(c), id, { force: form.text('force') === 'yes' });
    if (removed.kind === 'locked') return { ...(await removalView(site, workspace, removed.locks)), status: 409 };
    await removeFiles(id);
    if (removed.kind === 'unknown' || removed.ended.count === 0) return { to: '/', notice: 'workspace-removed' };
    const notice = `The workspace was removed. ${pluralize(removed.ended.count, 'lock')} ended with it:`;
    const main = html`${namedLocks(removed.ended)}<div class="actions">${link('/', 'All workspaces')}</div>`;
    return { title: 'Workspace removed', notice, main, hasTabs: false };
  });
}

async function removalView({ storage }: Site, { id, remote }: FoundWorkspace, locks: number): Promise<View> {
  const named = locks > 0 ? (await listLocks(storage, { workspace: id, limit: maxNamedLocks })).locks : [];
  const hooks = await listHooks(storage.read, id);
  const waiting = hooks.reduce((sum, hook) => sum + hook.pending_deliveries, 0);
  const pending =
    waiting === 0
      ? ''
      : `, and ${pluralize(waiting, 'pending delivery', 'pending deliveries')} that will never be sent`;
  const main = html`
    ${locks > 0 ? lockWarning(id, { named, count: locks }) : ''}
    <p>The workspace ${userText(id)} is a mirror of ${literal(redactRemote(remote))}. The repository itself stays as it is. This removes:</p>
    <ul>
      <li>the mirror with its LFS objects, and the history of syncs and of locks</li>
      ${hooks.length === 0 ? '' : html`<li>${pluralize(hooks.length, 'webhook')}${pending}</li>`}
    </ul>
    <p>Workflows that use it will fail. This cannot be undone.</p>
    ${postForm({
      action: `/workspaces/${id}/remove`,
      fields: locks > 0 ? [forceField] : [],
      button: 'Remove workspace',
      kind: 'danger',
      cancel: buttonLink(`/workspaces/${id}/settings`, 'Cancel'),
    })}`;
  return { title: 'Remove this workspace?', main };
}

const lockWarning = (id: string, locks: EndedLocks): Markup =>
  html`<p class="warning" role="alert"><strong>${pluralize(locks.count, 'lock')} ${locks.count === 1 ? 'is' : 'are'} held in it.</strong>
    Their holders rely on them. Wait until they expire, or ${link(listUrl(id), 'release them')} first.</p>${namedLocks(locks)}`;

const forceField: FormField = {
  id: 'force',
  title: 'Force',
  render: () => html`<p><input type="checkbox" id="force" name="force" value="yes" required>
    <label for="force">End all locks, including those of other owners</label></p>`,
};

const namedLocks = ({ named, count }: EndedLocks): Markup =>
  html`<ul>${named.map(({ path, owner }) => html`<li>${literal(path)}, held by ${userText(owner)}</li>`)}
    ${count > named.length ? html`<li>and ${pluralize(count - named.length, 'more', 'more')}</li>` : ''}</ul>`;
