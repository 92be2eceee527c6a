import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import type { App } from '../../http/operation.ts';
import { maySee } from '../../tokens/tokens.ts';
import { overviewOfWorkspaces, type WorkspaceOverview } from '../../workspaces/overview.ts';
import type { DashboardParts } from '../dashboard.ts';
import { empty } from '../elements/empty.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal, plural } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { showPage } from '../layout.ts';
import { addPage, type PageCall } from '../page.ts';

const noWorkspaces = ({ bearer }: PageCall): Markup =>
  bearer.workspaces === null
    ? empty(
        'There is no workspace yet.',
        html`A workspace mirrors a git repository. Add one on the machine of the service:
          <code>workspace-service workspace add game --remote https://git.example.com/studio/game.git</code>`,
      )
    : empty('Your token sees no workspace.', 'Its workspaces were removed. Ask whoever made the token for another.');

function row({ bearer, now }: PageCall, { id, remote, locks, lastSync }: WorkspaceOverview): Markup {
  const sync =
    lastSync === null
      ? html`<span class="faint">never</span>`
      : html`<span class="state ${lastSync.status}">${lastSync.status}</span> ${time(lastSync.at, now)} ${literal(lastSync.branch)}`;
  const locked = plural(locks, 'lock');
  return html`<tr>
    <th scope="row"><a href="/workspaces/${id}">${given(id)}</a></th>
    <td>${grants(bearer.scopes, 'locks:read') ? html`<a href="/workspaces/${id}/locks">${locked}</a>` : locked}</td>
    <td>${sync}</td>
    <td class="wide">${literal(remote)}</td>
  </tr>`;
}

export function addWorkspaceListPage(app: App, parts: DashboardParts): void {
  addPage(app, parts, { path: '/', access: 'any-token' }, async (call) => {
    const all = await overviewOfWorkspaces(parts.storage);
    const workspaces = all.filter(({ id }) => maySee(call.bearer, id));
    const main =
      workspaces.length === 0
        ? noWorkspaces(call)
        : html`<div class="scroll"><table>
            <thead><tr><th scope="col">Workspace</th><th scope="col">Locks</th><th scope="col">Last sync</th><th scope="col" class="wide">Mirror of</th></tr></thead>
            <tbody>${workspaces.map((workspace) => row(call, workspace))}</tbody>
          </table></div>`;
    return showPage(call, { title: 'Workspaces', place: { section: 'workspaces' }, main });
  });
}
