import { html } from 'hono/html';
import { grants } from '../../contract/scopes.ts';
import { type LastSync, overviewOfWorkspaces, type WorkspaceOverview } from '../../syncs/list.ts';
import { maySee } from '../../tokens/tokens.ts';
import { urls } from '../elements/lock.ts';
import {
  empty,
  faint,
  htmlTable,
  literal,
  liveState,
  type Markup,
  type Row,
  time,
  userText,
} from '../elements/markup.ts';
import type { PageCall } from '../frame/layout.ts';
import { addPage, addWorkspacePage, type Site } from '../frame/page.ts';

export function addWorkspacesPage(site: Site): void {
  const { storage } = site;
  addPage(site, '/', 'any-token', async (call) => {
    const workspaces = (await overviewOfWorkspaces(storage)).filter(({ id }) => maySee(call.bearer, id));
    const rows = workspaces.map((workspace) => workspaceRow(call, workspace));
    const main = html`${liveState(call.now)}<div data-part="workspaces">${htmlTable(rows)}</div>`;
    return { title: 'Workspaces', main: rows.length === 0 ? noWorkspaces(call) : main };
  });

  /** The start page of a workspace: its locks, or another page that the token may see. */
  addWorkspacePage(site, '', 'any-token', async ({ workspace: { id }, bearer: { scopes } }) => {
    if (grants(scopes, 'locks:read')) return { to: urls.locks(id) };
    if (grants(scopes, 'sync')) return { to: `/workspaces/${id}/syncs` };
    return { to: grants(scopes, 'hooks:write') ? `/workspaces/${id}/hooks` : '/' };
  });
}

const noWorkspaces = ({ bearer }: PageCall): Markup =>
  bearer.workspaces === null
    ? empty(
        'There are no workspaces yet.',
        html`A workspace mirrors a git repository, whose files can then be locked. An administrator adds it on the machine of the service:
          <code>workspace-service workspace add game --remote https://git.example.com/studio/game.git</code>`,
      )
    : empty('Your token sees no workspaces.', 'Its workspaces were removed. Ask an administrator for another token.');

function workspaceRow(call: PageCall, workspace: WorkspaceOverview): Row {
  const { scopes } = call.bearer;
  const { id, remote } = workspace;
  return [
    ['Workspace', html`<a href="/workspaces/${id}">${userText(id)}</a>`, 'head'],
    grants(scopes, 'sync') ? ['Last sync', lastSync(call, id, workspace.lastSync)] : '',
    ['Mirror of', literal(remote)],
  ];
}

const lastSync = ({ now }: PageCall, workspace: string, sync: LastSync | null): Markup =>
  sync === null
    ? faint('none yet')
    : html`<a class="state ${sync.status}" href="/workspaces/${workspace}/syncs">${sync.status}</a> ${literal(sync.branch)} <span class="faint">${time(sync.at, now)}</span>`;
