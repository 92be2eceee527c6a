import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { type LastSync, overviewOfWorkspaces, type WorkspaceOverview } from '../../syncs/workspace-overview.ts';
import { maySee } from '../../tokens/tokens.ts';
import { branchStatuses, countBranchStates, isOutdated } from '../../workspaces/branch-state.ts';
import type { KnownRemote, RemoteMemory } from '../../workspaces/remote-memory.ts';
import type { SyncedBranches } from '../../workspaces/synced-branches.ts';
import { plural } from '../assets/text.js';
import { type Heading, htmlTable } from '../elements/list.ts';
import { empty, faint, literal, type Markup, notice, time, userText } from '../elements/text.ts';
import { addPage, type PageCall, queryOf, type Site } from '../frame/page.ts';
import { overview } from './overview.ts';
import { setupSteps } from './setup-steps.ts';

/** Maximum age of a remote's answer for the list. */
export const recentMs = 60_000;

const addLink = html`<a class="button primary" href="/new-workspace">Add a workspace</a>`;

/** Shows known data without waiting for remotes, which are asked in the background. */
export function addWorkspaceListPage(site: Site): void {
  const { storage, remoteMemory } = site;
  addPage(site, { path: '/', access: 'any-token' }, async (call) => {
    const workspaces = (await overviewOfWorkspaces(storage)).filter(({ id }) => maySee(call.bearer, id));
    const { scopes } = call.bearer;
    const headings: readonly Heading[] = [
      'Workspace',
      'Branches',
      grants(scopes, 'sync') ? 'Last sync' : '',
      grants(scopes, 'locks:read') ? 'Locks' : '',
      ['Mirror of', 'wide'],
    ];
    const rows = workspaces.map((workspace) => row(call, workspace, remoteMemory));
    const steps =
      call.bearer.workspaces === null && grants(scopes, 'admin')
        ? await setupSteps(storage, workspaces[0]?.id)
        : undefined;
    const main =
      rows.length === 0
        ? steps === undefined
          ? noWorkspaces(call)
          : ''
        : html`${htmlTable('folds', headings, rows)}${await overview(call, site, workspaces)}`;
    for (const { stored, synced } of workspaces) {
      if (isOutdated(remoteMemory.known(stored), synced, call.now, recentMs)) remoteMemory.askSoon(stored);
    }
    const removed = queryOf(call, 'notice').notice === 'removed' ? 'The workspace was removed.' : undefined;
    return {
      title: 'Workspaces',
      actions: grants(scopes, 'admin') ? addLink : '',
      main: html`${notice(removed)}${steps ?? ''}${main}`,
      script: 'remotes.js',
    };
  });
}

const noWorkspaces = ({ bearer }: PageCall): Markup =>
  bearer.workspaces === null
    ? empty(
        'There are no workspaces yet.',
        'A workspace mirrors a git repository, whose files can then be locked. An administrator adds it.',
      )
    : empty('Your token sees no workspaces.', 'Its workspaces were removed. Ask an administrator for another token.');

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

function branches({ now }: PageCall, { id, synced }: WorkspaceOverview, known: KnownRemote): Markup {
  const { state, text, more } = branchSummary(known, synced);
  const { listing } = known;
  const asOf = listing !== undefined && now - listing.askedAt > recentMs ? asTimestamp(listing.askedAt) : undefined;
  const awaited = isOutdated(known, synced, now, recentMs);
  return html`<td${awaited ? html` data-summary="/workspaces/${id}/summary"` : ''}>
    <span class="state ${state}">${text}</span> <span class="faint">${more}${asOf === undefined ? '' : html` as of ${time(asOf, now)}`}</span>
  </td>`;
}

/** Short description of the state of a workspace's branches. */
interface BranchSummary {
  /** Also the CSS class for the color. */
  readonly state: 'behind' | 'current' | 'unsynced' | 'unknown' | 'silent';
  readonly text: string;
  /** May be empty. */
  readonly more: string;
}

export function branchSummary(known: KnownRemote, branches: SyncedBranches): BranchSummary {
  const { listing, failure } = known;
  if (listing !== undefined && failure === undefined) return synced(known, branches);
  if (failure === undefined) return { state: 'unknown', text: 'asking', more: '' };
  const more = branches.size === 0 ? '' : `${plural(branches.size, 'branch', 'branches')} synced`;
  return { state: 'silent', text: 'no answer', more };
}

/** Counts only synced branches: a branch that was never synced is not behind. */
function synced(known: KnownRemote, branches: SyncedBranches): BranchSummary {
  const { behind, current, unsynced, unknown } = countBranchStates(branchStatuses(known, branches));
  if (unknown > 0) return { state: 'unknown', text: 'asking', more: '' };
  const more = unsynced === 0 ? '' : `${unsynced.toLocaleString('en-US')} never synced`;
  if (behind > 0) return { state: 'behind', text: `${behind} of ${behind + current} behind`, more };
  if (current > 0) {
    return { state: 'current', text: current === 1 ? '1 up to date' : `all ${current} up to date`, more };
  }
  return unsynced === 0
    ? { state: 'unsynced', text: 'no branches', more: '' }
    : { state: 'unsynced', text: 'never synced', more: plural(unsynced, 'branch', 'branches') };
}

const lastSync = ({ now }: PageCall, workspace: string, sync: LastSync | null): Markup =>
  sync === null
    ? faint('none yet')
    : html`<a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.id}">${sync.status}</a> ${literal(sync.branch)} <span class="faint">${time(sync.at, now)}</span>`;
