import { html } from 'hono/html';
import type { Sync } from '../../../interface/resources.ts';
import { invalid } from '../../contract/problem.ts';
import type { App } from '../../http/context.ts';
import { listSyncs, type RecordedSync, type SyncPage, type SyncPosition } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import { syncedBranches } from '../../workspaces/synced-branches.ts';
import { runTime, syncError } from '../elements/sync.ts';
import { empty, literal, type Markup, userText } from '../elements/text.ts';
import { duration, time } from '../elements/time.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { addPage, type PageCall, queryOf, workspaceOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { durationChart } from './duration-chart.ts';

const pageSize = 50;
/** A single bar says nothing. */
const worthACard = 2;
/** More than browsers offer at once. */
const maxSuggested = 500;

const writePosition = ({ createdAt, id }: SyncPosition): string => `${createdAt}.${id}`;

function readPosition(text: string): SyncPosition | undefined {
  if (text === '') return undefined;
  const [, createdAt = '', id = ''] = /^(\d{1,15})\.(.*)$/.exec(text) ?? [];
  if (!isSyncId(id)) throw invalid({ pointer: '#/before', detail: 'There is no such page. Start again without it.' });
  return { createdAt: Number(createdAt), id };
}

/** How many were received, and of how many while the sync runs. */
export function objects({ finished_at, received_objects, estimated_objects }: Sync): string {
  const received = received_objects.toLocaleString('en-US');
  if (finished_at !== null || estimated_objects === 0) return received;
  return `${received} of about ${estimated_objects.toLocaleString('en-US')}`;
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

function chart(syncs: readonly RecordedSync[]): Markup {
  const ended = syncs.flatMap((sync) => {
    const milliseconds = runTime(sync);
    return milliseconds === undefined ? [] : [{ milliseconds, failed: sync.status === 'failed' }];
  });
  return ended.length < worthACard ? html`` : durationChart(ended.reverse());
}

const filterForm = (workspace: string, branch: string, names: readonly string[]): Markup =>
  html`<form method="get" action="/workspaces/${workspace}/syncs" class="actions" role="search">
    <label for="branch">Branch</label>
    <input id="branch" type="search" name="branch" value="${branch}" list="branches" autocapitalize="none" spellcheck="false">
    <datalist id="branches">${names.slice(0, maxSuggested).map((name) => html`<option value="${name}"></option>`)}</datalist>
    <button>Filter</button>
    ${branch === '' ? '' : html`<a href="/workspaces/${workspace}/syncs">Show all branches</a>`}
  </form>`;

function noSyncs(workspace: string, branch: string, isLater: boolean): Markup {
  if (isLater)
    return empty('There are no older syncs.', html`<a href="/workspaces/${workspace}/syncs">Show the newest</a>`);
  if (branch !== '') {
    return empty('No sync of this branch is kept.', 'Enter the full name. Syncs are kept for 90 days.');
  }
  return empty(
    'Nothing has been synced yet.',
    html`A sync brings a branch of the remote into the mirror. <a href="/workspaces/${workspace}">Choose a branch</a>, or let a
      workflow sync it with <code>operation: sync</code>.`,
  );
}

function pageLinks(workspace: string, branch: string, { next }: SyncPage, isLater: boolean): Markup {
  const address = (more: Readonly<Record<string, string>>) =>
    `/workspaces/${workspace}/syncs?${new URLSearchParams({ ...(branch !== '' && { branch }), ...more })}`;
  if (!isLater && next === undefined) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${isLater ? html`<a href="${address({})}">Newest</a>` : ''}
    ${next === undefined ? '' : html`<a href="${address({ before: writePosition(next) })}" rel="next">Older</a>`}
  </nav>`;
}

const table = (call: PageCall, workspace: string, syncs: readonly RecordedSync[]): Markup =>
  html`<table class="folds syncs">
    <thead><tr>
      <th scope="col">State</th>
      <th scope="col">Branch</th>
      <th scope="col">Asked for</th>
      <th scope="col" class="number">Took</th>
      <th scope="col" class="number wide">Objects</th>
      <th scope="col" class="wide">By</th>
    </tr></thead>
    <tbody>${syncs.map((sync) => row(call, workspace, sync))}</tbody>
  </table>`;

export function addSyncHistoryPage(app: App, parts: DashboardParts): void {
  const { storage } = parts;
  addPage(app, parts, { path: '/workspaces/:id/syncs', access: 'sync' }, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const { branch, before } = queryOf(call, 'branch', 'before');
    const position = readPosition(before);
    const query = { branch: branch === '' ? undefined : branch, before: position, limit: pageSize };
    const [page, known] = await Promise.all([listSyncs(storage, id, query), syncedBranches(storage, id)]);
    const isLater = position !== undefined;
    const { syncs } = page;
    const isUntouched = syncs.length === 0 && branch === '' && !isLater;
    const main = html`
      ${isUntouched ? '' : filterForm(id, branch, [...known.keys()])}
      ${chart(syncs)}
      ${syncs.length === 0 ? noSyncs(id, branch, isLater) : table(call, id, syncs)}
      ${pageLinks(id, branch, page, isLater)}`;
    return showPage(call, { title: `Syncs of ${id}`, location: inWorkspace(id, 'syncs'), main, styles: ['syncs.css'] });
  });
}
