import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import { type LastSync, overviewOfWorkspaces, type WorkspaceOverview } from '../../syncs/list.ts';
import { maySee } from '../../tokens/tokens.ts';
import { redactedUrl } from '../../webhooks/deliver.ts';
import { failingHooks, type HookOverview } from '../../webhooks/hooks.ts';
import { hookState } from '../elements/hook.ts';
import { htmlTable, type Row, section } from '../elements/list.ts';
import { listUrl, totalText } from '../elements/lock-list.ts';
import { empty, faint, literal, type Markup, time, urlText, userText } from '../elements/text.ts';
import { addPage, addWorkspacePage, type PageCall, type Site } from '../frame/page.ts';
import { endingSection, ownLive, waitSections } from './own.ts';

export function addWorkspaceListPage(site: Site): void {
  const { storage } = site;
  addPage(site, { path: '/', access: 'any-token' }, async (call) => {
    const workspaces = (await overviewOfWorkspaces(storage)).filter(({ id }) => maySee(call.bearer, id));
    const rows = workspaces.map((workspace) => workspaceRow(call, workspace));
    return {
      title: 'Workspaces',
      ...(grants(call.bearer.scopes, 'locks:read') && { script: 'live.js' }),
      main:
        rows.length === 0
          ? noWorkspaces(call)
          : html`${await overview(call, site)}<h2>All workspaces</h2><div data-part="workspaces">${htmlTable(rows)}</div>`,
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
        html`A workspace mirrors a git repository, whose files can then be locked. An administrator adds it on the machine of the service:
          <code class="command">workspace-service workspace add game --remote https://git.example.com/studio/game.git</code>`,
      )
    : empty('Your token sees no workspaces.', 'Its workspaces were removed. Ask an administrator for another token.');

function workspaceRow(call: PageCall, workspace: WorkspaceOverview): Row {
  const { scopes } = call.bearer;
  const { id, locks, remote } = workspace;
  const held = locks === 0 ? 'none' : totalText(locks);
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

/** What needs somebody, as far as the token may see it. */
async function overview(call: PageCall, site: Site): Promise<Markup> {
  const { scopes } = call.bearer;
  const failing = grants(scopes, 'hooks:write') ? await failingSection(call, site) : '';
  if (!grants(scopes, 'locks:read')) return html`${failing}`;
  return html`${ownLive(call)}${await waitSections(site, call)}
    <div data-part="ending">${await endingSection(site, call)}</div>${failing}`;
}

const maxShown = 5;

async function failingSection(call: PageCall, { storage }: Site): Promise<Markup | string> {
  const failing = await failingHooks(storage.read, call.bearer.workspaces, maxShown);
  return section(
    'Failing webhooks',
    failing.map((hook) => failingRow(call, hook)),
  );
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
