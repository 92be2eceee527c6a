import { html } from 'hono/html';
import type { Sync } from '../../../interface/resources.ts';
import { invalid } from '../../contract/problem.ts';
import { listSyncs, type RecordedSync, type SyncPosition } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import { syncedBranches } from '../../workspaces/synced-branches.ts';
import { filterForm, textInput } from '../elements/fields.ts';
import { addressWith, type Heading, htmlTable, link, olderLinks } from '../elements/list.ts';
import { duration, empty, literal, type Markup, safeLines, time, userText } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, queryOf, type Site } from '../frame/page.ts';

const pageSize = 50;

const headings: readonly Heading[] = [
  'State',
  'Branch',
  'Asked for',
  ['Took', 'number'],
  ['Objects', 'number wide'],
  ['By', 'wide'],
];

export function addSyncHistoryPage(site: Site): void {
  const { storage } = site;
  addWorkspacePage(site, { path: '/syncs', access: 'sync' }, async (call) => {
    const { id } = call.workspace;
    const { branch, before } = queryOf(call, 'branch', 'before');
    const position = readPosition(before);
    const query = { branch: branch === '' ? undefined : branch, before: position, limit: pageSize };
    const [page, known] = await Promise.all([listSyncs(storage, id, query), syncedBranches(storage, id)]);
    const isLater = position !== undefined;
    const { syncs, next } = page;
    const history = historyOf(id);
    const isUntouched = syncs.length === 0 && branch === '' && !isLater;
    const rows = syncs.map((sync) => row(call, id, sync));
    const main = html`
      ${isUntouched ? '' : branchFilter(history, branch, [...known.keys()])}
      ${rows.length === 0 ? noSyncs(id, branch, isLater) : htmlTable('folds syncs', headings, rows)}
      ${olderLinks(isLater, next && writePosition(next), (before) => addressWith(history, { branch, before }))}`;
    return { title: 'Syncs', main };
  });
}

const writePosition = ({ createdAt, id }: SyncPosition): string => `${createdAt}.${id}`;

function readPosition(text: string): SyncPosition | undefined {
  if (text === '') return undefined;
  const [, createdAt = '', id = ''] = /^(\d{1,15})\.(.*)$/.exec(text) ?? [];
  if (!isSyncId(id)) throw invalid({ pointer: '#/before', detail: 'There is no such page. Start again without it.' });
  return { createdAt: Number(createdAt), id };
}

function row({ now }: PageCall, workspace: string, sync: RecordedSync): Markup {
  const took = runTime(sync);
  return html`<tr>
    <td><a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.sync_id}">${sync.status}</a></td>
    <th scope="row">${literal(sync.branch)}${sync.error === null ? '' : syncError(sync.error)}</th>
    <td>${time(sync.created_at, now)}</td>
    <td class="number nowrap"${took === undefined ? '' : html` data-label="Took"`}>${took === undefined ? '' : duration(took)}</td>
    <td class="number nowrap wide">${objects(sync)}</td>
    <td class="wide">${sync.requested_by === null ? '' : userText(sync.requested_by)}</td>
  </tr>`;
}

/** Number of received objects, and the estimated total while the sync runs. */
export function objects({ finished_at, received_objects, estimated_objects }: Sync): string {
  const received = received_objects.toLocaleString('en-US');
  if (finished_at !== null || estimated_objects === 0) return received;
  return `${received} of about ${estimated_objects.toLocaleString('en-US')}`;
}

/** Longer errors are folded, because they would hide the rest of the page. */
const maxOpenLength = 160;
const beginning = 100;

/** Error of a sync. Only the start of a long one is visible until it is unfolded. */
function syncError(error: string): Markup {
  const text = safeLines(error);
  const [firstLine = ''] = text.split('\n');
  if (text.length <= maxOpenLength && firstLine === text) return html`<p class="problem"><bdi>${text}</bdi></p>`;
  return html`<details class="problem"><summary><bdi>${firstLine.slice(0, beginning)}…</bdi></summary><pre>${text}</pre></details>`;
}

/** Duration of a sync, without the time in the queue; undefined until it has ended. */
export function runTime({ started_at, finished_at }: Sync): number | undefined {
  if (started_at === null || finished_at === null) return undefined;
  return Date.parse(finished_at) - Date.parse(started_at);
}

/** More suggestions than browsers show at once. */
const maxSuggested = 500;

const branchFilter = (history: string, branch: string, names: readonly string[]): Markup => html`
  ${filterForm({
    action: history,
    fields: [textInput('branch', 'Branch', branch, { type: 'search', more: html` list="branches"` })],
    showAll: branch === '' ? undefined : 'Show all branches',
  })}
  <datalist id="branches">${names.slice(0, maxSuggested).map((name) => html`<option value="${name}"></option>`)}</datalist>`;

function noSyncs(workspace: string, branch: string, isLater: boolean): Markup {
  if (isLater) return empty('There are no older syncs.', link(historyOf(workspace), 'Show the newest'));
  if (branch !== '') {
    return empty('No sync of this branch is kept.', 'Enter the full name. Old syncs are removed.');
  }
  return empty(
    'Nothing has been synced yet.',
    html`A sync brings a branch of the remote into the mirror. <a href="/workspaces/${workspace}/branches">Choose a branch</a>, or let a
      workflow sync it with <code>operation: sync</code>.`,
  );
}

const historyOf = (workspace: string): string => `/workspaces/${workspace}/syncs`;
