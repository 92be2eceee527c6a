import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import type { App } from '../../http/context.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { type LastSync, overviewOfWorkspaces, type WorkspaceOverview } from '../../syncs/workspace-overview.ts';
import { maySee } from '../../tokens/tokens.ts';
import type { KnownRemote, RemoteMemory } from '../../workspaces/remote-memory.ts';
import { isOutdated } from '../../workspaces/standing.ts';
import { plural } from '../assets/text.js';
import { empty, faint, literal, type Markup, userText } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { showPage } from '../frame/layout.ts';
import { addPage, type PageCall } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { branchSummary } from './branch-summary.ts';

/** How long the answer of a remote is recent enough for the list. */
export const recentMs = 60_000;

const noWorkspaces = ({ bearer }: PageCall): Markup =>
  bearer.workspaces === null
    ? empty(
        'There are no workspaces yet.',
        html`A workspace mirrors a git repository. Add one on the machine of the service:
          <code>workspace-service workspace add game --remote https://git.example.com/studio/game.git</code>`,
      )
    : empty(
        'Your token sees no workspaces.',
        'Its workspaces were removed. Ask whoever created the token for another.',
      );

function branches({ now }: PageCall, { id, synced }: WorkspaceOverview, known: KnownRemote): Markup {
  const { state, text, more } = branchSummary(known, synced);
  const { listing } = known;
  const asOf = listing !== undefined && now - listing.askedAt > recentMs ? asTimestamp(listing.askedAt) : undefined;
  const awaited = isOutdated(known, synced, now, recentMs);
  return html`<td${awaited ? html` data-summary="/workspaces/${id}/summary"` : ''}>
    <span class="state ${state}">${text}</span> <span class="faint">${more}${asOf === undefined ? '' : html` as of ${time(asOf, now)}`}</span>
  </td>`;
}

const lastSync = ({ now }: PageCall, workspace: string, sync: LastSync | null): Markup =>
  sync === null
    ? faint('none yet')
    : html`<a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.id}">${sync.status}</a> ${literal(sync.branch)} <span class="faint">${time(sync.at, now)}</span>`;

function row(call: PageCall, workspace: WorkspaceOverview, memory: RemoteMemory): Markup {
  const { scopes } = call.bearer;
  const { id, locks, remote, stored } = workspace;
  return html`<tr>
    <th scope="row"><a href="/workspaces/${id}">${userText(id)}</a></th>
    ${branches(call, workspace, memory.known(stored))}
    ${grants(scopes, 'sync') ? html`<td data-label="Last sync">${lastSync(call, id, workspace.lastSync)}</td>` : ''}
    ${grants(scopes, 'locks:read') ? html`<td data-label="Locks"><a class="nowrap" href="/workspaces/${id}/locks">${locks === 0 ? 'none' : plural(locks, 'lock')}</a></td>` : ''}
    <td class="wide">${literal(remote)}</td>
  </tr>`;
}

function table(call: PageCall, workspaces: readonly WorkspaceOverview[], memory: RemoteMemory): Markup {
  const { scopes } = call.bearer;
  return html`<table class="folds">
    <thead><tr>
      <th scope="col">Workspace</th>
      <th scope="col">Branches</th>
      ${grants(scopes, 'sync') ? html`<th scope="col">Last sync</th>` : ''}
      ${grants(scopes, 'locks:read') ? html`<th scope="col">Locks</th>` : ''}
      <th scope="col" class="wide">Mirror of</th>
    </tr></thead>
    <tbody>${workspaces.map((workspace) => row(call, workspace, memory))}</tbody>
  </table>`;
}

/** Shows what is known and waits for no remote: they are asked in the background. */
export function addWorkspaceListPage(app: App, parts: DashboardParts): void {
  const { storage, remoteMemory } = parts;
  addPage(app, parts, { path: '/', access: 'any-token' }, async (call) => {
    const workspaces = (await overviewOfWorkspaces(storage)).filter(({ id }) => maySee(call.bearer, id));
    const main = workspaces.length === 0 ? noWorkspaces(call) : table(call, workspaces, remoteMemory);
    for (const { stored, synced } of workspaces) {
      if (isOutdated(remoteMemory.known(stored), synced, call.now, recentMs)) remoteMemory.askSoon(stored);
    }
    return showPage(call, {
      title: 'Workspaces',
      location: { section: 'workspaces' },
      main,
      scripts: ['remotes.js'],
      styles: ['syncs.css'],
    });
  });
}
