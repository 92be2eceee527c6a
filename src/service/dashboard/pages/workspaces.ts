import { html } from 'hono/html';
import { formatNumber, pluralize } from '../../../interface/format.ts';
import { grants } from '../../../interface/scopes.ts';
import { locksEndingWithin, oldestLocks } from '../../locks/list.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { type LastSync, overviewOfWorkspaces, type WorkspaceOverview } from '../../syncs/workspace-overview.ts';
import { maySee } from '../../tokens/tokens.ts';
import { redactedUrl } from '../../webhooks/delivery-request.ts';
import { failingHooks, type HookOverview } from '../../webhooks/hook-overview.ts';
import { branchStatuses, countBranchStates, isOutdated } from '../../workspaces/branch-state.ts';
import type { KnownRemote, RemoteMemory } from '../../workspaces/remote-memory.ts';
import type { SyncedBranches } from '../../workspaces/synced-branches.ts';
import { hookState, hookUrl } from '../elements/hook.ts';
import { htmlTable, link, type Row } from '../elements/list.ts';
import { pathLink } from '../elements/lock.ts';
import { listUrl } from '../elements/lock-list.ts';
import { countdown, empty, faint, literal, type Markup, time, urlText, userText } from '../elements/text.ts';
import { addPage, type PageCall, type Site } from '../frame/page.ts';
import { setupSteps } from './setup-steps.ts';

/** Maximum age of a remote's answer for the list. */
export const recentMs = 60_000;

const addLink = html`<a class="button primary" href="/new-workspace">Add a workspace</a>`;

/** Shows known data without waiting for remotes, which are asked in the background. */
export function addWorkspaceListPage(site: Site): void {
  const { storage, remoteMemory } = site;
  addPage(site, { path: '/', access: 'any-token', isCharged: true }, async (call) => {
    const workspaces = (await overviewOfWorkspaces(storage)).filter(({ id }) => maySee(call.bearer, id));
    const { scopes } = call.bearer;
    const rows = workspaces.map((workspace) => workspaceRow(call, workspace, remoteMemory));
    const steps =
      call.bearer.workspaces === null && grants(scopes, 'admin')
        ? await setupSteps(storage, workspaces[0]?.id)
        : undefined;
    const list =
      rows.length > 0 ? html`${htmlTable(rows)}${await overview(call, site, workspaces)}` : noWorkspaces(call);
    for (const { stored, synced } of workspaces) {
      if (isOutdated(remoteMemory.known(stored), synced, call.now, recentMs)) remoteMemory.askSoon(stored);
    }
    return {
      title: 'Workspaces',
      actions: grants(scopes, 'admin') ? addLink : '',
      main: html`${steps ?? ''}${steps !== undefined && rows.length === 0 ? '' : list}`,
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

function workspaceRow(call: PageCall, workspace: WorkspaceOverview, memory: RemoteMemory): Row {
  const { scopes } = call.bearer;
  const { id, locks, remote, stored } = workspace;
  const held = locks === 0 ? 'none' : pluralize(locks, 'lock');
  return [
    ['Workspace', html`<a href="/workspaces/${id}">${userText(id)}</a>`, 'head'],
    ['Branches', branches(call, workspace, memory.known(stored))],
    grants(scopes, 'sync') ? ['Last sync', lastSync(call, id, workspace.lastSync)] : '',
    grants(scopes, 'locks:read') ? ['Locks', html`<a class="nowrap" href="/workspaces/${id}/locks">${held}</a>`] : '',
    ['Mirror of', literal(remote), 'wide'],
  ];
}

function branches({ now }: PageCall, { id, synced }: WorkspaceOverview, known: KnownRemote): Markup {
  const { state, text, more } = branchSummary(known, synced);
  const { listing } = known;
  const asOf = listing !== undefined && now - listing.askedAt > recentMs ? asTimestamp(listing.askedAt) : undefined;
  const awaited = isOutdated(known, synced, now, recentMs);
  return html`<span${awaited ? html` data-summary="/workspaces/${id}/summary"` : ''}>
    <span class="state ${state}">${text}</span> <span class="faint">${more}${asOf === undefined ? '' : html` as of ${time(asOf, now)}`}</span>
  </span>`;
}

interface BranchSummary {
  /** Also the CSS class for the color. */
  readonly state: 'behind' | 'current' | 'unsynced' | 'unknown' | 'silent';
  readonly text: string;
  readonly more: string;
}

export function branchSummary(known: KnownRemote, branches: SyncedBranches): BranchSummary {
  const { listing, failure } = known;
  if (listing !== undefined && failure === undefined) return answered(known, branches);
  if (failure === undefined) return { state: 'unknown', text: 'asking', more: '' };
  const more = branches.size === 0 ? '' : `${pluralize(branches.size, 'branch', 'branches')} synced`;
  return { state: 'silent', text: 'no answer', more };
}

/** Counts only synced branches: a branch that was never synced is not behind. */
function answered(known: KnownRemote, branches: SyncedBranches): BranchSummary {
  const { behind, current, unsynced, unknown } = countBranchStates(branchStatuses(known, branches));
  if (unknown > 0) return { state: 'unknown', text: 'asking', more: '' };
  const more = unsynced === 0 ? '' : `${formatNumber(unsynced)} never synced`;
  if (behind > 0) return { state: 'behind', text: `${behind} of ${behind + current} behind`, more };
  if (current > 0) {
    return { state: 'current', text: current === 1 ? '1 up to date' : `all ${current} up to date`, more };
  }
  return unsynced === 0
    ? { state: 'unsynced', text: 'no branches', more: '' }
    : { state: 'unsynced', text: 'never synced', more: pluralize(unsynced, 'branch', 'branches') };
}

const lastSync = ({ now }: PageCall, workspace: string, sync: LastSync | null): Markup =>
  sync === null
    ? faint('none yet')
    : html`<a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.id}">${sync.status}</a> ${literal(sync.branch)} <span class="faint">${time(sync.at, now)}</span>`;

/** The sections that the token may see. */
async function overview(call: PageCall, site: Site, workspaces: readonly WorkspaceOverview[]): Promise<Markup> {
  const { scopes } = call.bearer;
  const [locks, failing] = await Promise.all([
    grants(scopes, 'locks:read') ? lockSections(call, site) : [],
    grants(scopes, 'hooks:write') ? failingSection(call, site) : '',
  ]);
  return html`<div class="overview">${locks}${failing}${behindSection(call, site, workspaces)}</div>`;
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
  const { workspace, id, last_error } = hook;
  const error = last_error === null ? '' : html`<p class="hint">${userText(last_error)}</p>`;
  return [
    ['URL', html`<a href="${hookUrl(workspace, id)}">${urlText(redactedUrl(hook))}</a>${error}`, 'head'],
    ['Workspace', html`<a href="/workspaces/${workspace}/hooks">${userText(workspace)}</a>`],
    ['State', hookState(hook, now)],
  ];
}

/** Lists only remotes that have answered. The page reloads this part when the others have. */
function behindSection({ now }: PageCall, { remoteMemory }: Site, workspaces: readonly WorkspaceOverview[]): Markup {
  const known = workspaces.map(({ id, stored, synced }) => ({ id, known: remoteMemory.known(stored), synced }));
  const behind = known
    .flatMap(({ id, known, synced }) => branchStatuses(known, synced).map((branch) => ({ workspace: id, ...branch })))
    .filter(({ state }) => state === 'behind')
    .sort((one, other) => (one.synced?.syncedAt ?? 0) - (other.synced?.syncedAt ?? 0));
  const unknown = known.filter(({ known: { listing } }) => listing === undefined).length;
  const others = behind.length - maxShown;
  const rows = behind.slice(0, maxShown).map(
    ({ workspace, name, synced }): Row => [
      ['Branch', literal(name), 'head'],
      ['Workspace', link(`/workspaces/${workspace}/branches?show=behind`, workspace)],
      ['Last synced', synced === undefined ? '' : time(asTimestamp(synced.syncedAt), now)],
    ],
  );
  const more = [
    others > 0 ? `And ${pluralize(others, 'other branch', 'other branches')}.` : '',
    unknown > 0 ? `${pluralize(unknown, 'remote has', 'remotes have')} not answered yet.` : '',
  ];
  const none = unknown > 0 ? 'None known yet.' : 'Every synced branch is up to date.';
  return section(['behind', 'Syncs behind'], rows, none, more.join(' ').trim());
}

/** `none` replaces an empty table. */
const section = (
  [id, title]: readonly [id: string, title: string],
  rows: readonly Row[],
  none: string,
  more = '',
): Markup =>
  html`<section aria-labelledby="${id}" data-part="${id}">
    <h2 id="${id}">${title}</h2>
    ${rows.length === 0 ? html`<p class="faint">${none}</p>` : htmlTable(rows, 'clipped')}
    ${more === '' ? '' : html`<p class="hint">${more}</p>`}
  </section>`;
