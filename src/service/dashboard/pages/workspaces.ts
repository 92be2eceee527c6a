import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { grants } from '../../../interface/scopes.ts';
import { locksEndingWithin, oldestLocks } from '../../locks/list.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { type LastSync, overviewOfWorkspaces, type WorkspaceOverview } from '../../syncs/workspace-overview.ts';
import { maySee } from '../../tokens/tokens.ts';
import { redactedUrl } from '../../webhooks/delivery-request.ts';
import { failingHooks, type HookOverview } from '../../webhooks/hook-overview.ts';
import { hookState } from '../elements/hook.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { pathLink } from '../elements/lock.ts';
import { listUrl } from '../elements/lock-list.ts';
import { countdown, empty, faint, literal, type Markup, time, urlText, userText } from '../elements/text.ts';
import { addPage, addWorkspacePage, type PageCall, type Site } from '../frame/page.ts';
import { setupSteps } from './setup-steps.ts';

export function addWorkspaceListPage(site: Site): void {
  const { storage } = site;
  addPage(site, { path: '/', access: 'any-token' }, async (call) => {
    const workspaces = (await overviewOfWorkspaces(storage)).filter(({ id }) => maySee(call.bearer, id));
    const { scopes } = call.bearer;
    const steps =
      call.bearer.workspaces === null && grants(scopes, 'admin')
        ? await setupSteps(storage, workspaces[0]?.id)
        : undefined;
    const rows = workspaces.map((workspace) => workspaceRow(call, workspace));
    const list = rows.length > 0 ? html`${htmlTable(rows)}${await overview(call, site)}` : noWorkspaces(call);
    return {
      title: 'Workspaces',
      main: html`${steps ?? ''}${steps !== undefined && rows.length === 0 ? '' : list}`,
    };
  });

  /** A workspace begins with its locks, or with what else the token may see of it. */
  addWorkspacePage(site, { path: '', access: 'any-token' }, async ({ workspace: { id }, bearer: { scopes } }) => {
    if (grants(scopes, 'locks:read')) return { to: listUrl(id) };
    if (grants(scopes, 'sync')) return { to: `/workspaces/${id}/syncs` };
    return { to: grants(scopes, 'hooks:write') ? `/workspaces/${id}/hooks` : '/' };
  });
}

const noWorkspaces = ({ bearer }: PageCall): Markup =>
  bearer.workspaces === null
    ? empty(
        'There are no workspaces yet.',
        'A workspace mirrors a git repository, whose files can then be locked. An administrator adds it.',
      )
    : empty('Your token sees no workspaces.', 'Its workspaces were removed. Ask an administrator for another token.');

function workspaceRow(call: PageCall, workspace: WorkspaceOverview): Row {
  const { scopes } = call.bearer;
  const { id, locks, remote } = workspace;
  const held = locks === 0 ? 'none' : pluralize(locks, 'lock');
  return [
    ['Workspace', html`<a href="/workspaces/${id}">${userText(id)}</a>`, 'head'],
    grants(scopes, 'sync') ? ['Last sync', lastSync(call, id, workspace.lastSync)] : '',
    grants(scopes, 'locks:read') ? ['Locks', html`<a class="nowrap" href="/workspaces/${id}/locks">${held}</a>`] : '',
    ['Mirror of', literal(remote), 'wide'],
  ];
}

const lastSync = ({ now }: PageCall, workspace: string, sync: LastSync | null): Markup =>
  sync === null
    ? faint('none yet')
    : html`<a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.id}">${sync.status}</a> ${literal(sync.branch)} <span class="faint">${time(sync.at, now)}</span>`;

/** The sections that the token may see. */
async function overview(call: PageCall, site: Site): Promise<Markup> {
  const { scopes } = call.bearer;
  const [locks, failing] = await Promise.all([
    grants(scopes, 'locks:read') ? lockSections(call, site) : [],
    grants(scopes, 'hooks:write') ? failingSection(call, site) : '',
  ]);
  return html`<div class="overview">${locks}${failing}</div>`;
}

const maxShown = 5;
const endingSoonMs = 60 * 60_000;

async function lockSections({ bearer, now }: PageCall, { storage }: Site): Promise<readonly Markup[]> {
  const [oldest, ending] = await Promise.all([
    oldestLocks(storage, bearer, maxShown),
    locksEndingWithin(storage, bearer, maxShown, endingSoonMs),
  ]);
  return [
    section(
      ['held-longest', 'Held longest'],
      oldest.map((row) => lockRow(row, 'Since', time(asTimestamp(row.acquired_at), now))),
      'Nothing is locked.',
    ),
    section(
      ['ending-soon', 'Ending soon'],
      ending.map((row) => lockRow(row, 'Time left', countdown(asTimestamp(row.expires_at), now))),
      'No lock ends within the next hour.',
    ),
  ];
}

const lockRow = (row: LockRow, name: string, when: Markup): Row => {
  const { path, owner } = toLock(row);
  const { workspace_id: workspace } = row;
  return [
    ['Path', pathLink(workspace, path), 'head'],
    ['Workspace', html`<a href="${listUrl(workspace)}">${userText(workspace)}</a>`],
    ['Holder', userText(owner)],
    [name, when, 'nowrap'],
  ];
};

async function failingSection(call: PageCall, { storage }: Site): Promise<Markup> {
  const failing = await failingHooks(storage.read, call.bearer.workspaces, maxShown);
  const rows = failing.map((hook) => failingRow(call, hook));
  return section(['failing', 'Failing webhooks'], rows, 'No webhook is failing.');
}

function failingRow({ now }: PageCall, hook: HookOverview & { readonly workspace: string }): Row {
  const { workspace, last_error } = hook;
  const error = last_error === null ? '' : html`<p class="hint">${userText(last_error)}</p>`;
  return [
    ['URL', html`${urlText(redactedUrl(hook))}${error}`, 'head'],
    ['Workspace', html`<a href="/workspaces/${workspace}/hooks">${userText(workspace)}</a>`],
    ['State', hookState(hook, now)],
  ];
}

/** `none` replaces an empty table. */
const section = ([id, title]: readonly [id: string, title: string], rows: readonly Row[], none: string): Markup =>
  html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${rows.length === 0 ? html`<p class="faint">${none}</p>` : htmlTable(rows, 'clipped')}
  </section>`;
