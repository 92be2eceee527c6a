import { html } from 'hono/html';
import { formatElapsed, formatNumber, pluralize } from '../../../interface/format.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { byteSize } from '../../../interface/transfer.ts';
import { Refusal } from '../../contract/problem.ts';
import type { Sync } from '../../contract/schemas.ts';
import { findRecordedSync, listSyncs, type RecordedSync, type SyncPosition } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import { syncedBranches } from '../../workspaces/synced-branches.ts';
import { filterForm, textInput } from '../elements/fields.ts';
import { listPage, positionIn, type Row, urlWith } from '../elements/list.ts';
import { empty, literal, liveState, type Markup, safeLines, time, userText } from '../elements/text.ts';
import { livePage } from '../frame/live-page.ts';
import { addWorkspacePage, type PageCall, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';

const pageSize = 50;

export function addSyncHistoryPage(site: Site): void {
  const { storage } = site;
  addWorkspacePage(site, { path: '/syncs', access: 'sync' }, async (call) => {
    const { id } = call.workspace;
    const { branch, ...query } = queryOf(call, 'branch', 'before');
    const before = positionIn(query.before, parsePosition);
    const [{ syncs, next }, known] = await Promise.all([
      listSyncs(storage, id, { branch: branch === '' ? undefined : branch, before, limit: pageSize }),
      syncedBranches(storage, id),
    ]);
    const isLater = before !== undefined;
    const page = listPage({
      rows: syncs.map((sync) => row(call, id, sync)),
      isLater,
      next: next && `${next.createdAt}.${next.id}`,
      urlOf: (before) => urlWith(syncsUrl(id), { branch, before }),
      none: noSyncs(branch),
    });
    const isFilterable = syncs.length > 0 || branch !== '' || isLater;
    return { title: 'Syncs', main: html`${isFilterable ? branchFilter(id, branch, [...known.keys()]) : ''}${page}` };
  });
}

function parsePosition(text: string): SyncPosition | undefined {
  const [, createdAt = '', id = ''] = /^(\d{1,15})\.(.*)$/.exec(text) ?? [];
  return isSyncId(id) ? { createdAt: Number(createdAt), id } : undefined;
}

function row({ now }: PageCall, workspace: string, sync: RecordedSync): Row {
  const took = runTime(sync);
  const state = html`<a class="state ${sync.status}" href="/workspaces/${workspace}/syncs/${sync.sync_id}">${sync.status}</a>`;
  return [
    ['State', state],
    ['Branch', html`${literal(sync.branch)}${sync.error === null ? '' : syncError(sync.error)}`, 'head'],
    ['Requested', time(sync.created_at, now)],
    ['Took', took === undefined ? '' : formatElapsed(took), 'number nowrap'],
    ['Objects', objects(sync), 'number nowrap wide'],
    ['By', userText(sync.requested_by), 'wide'],
  ];
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

/** More suggestions than browsers show at once. */
const maxSuggested = 500;

const branchFilter = (workspace: string, branch: string, names: readonly string[]): Markup => html`
  ${filterForm({
    action: syncsUrl(workspace),
    values: { branch },
    fields: [textInput('branch', 'Branch', { type: 'search', attributes: html` list="branches"` })],
    showAll: branch === '' ? undefined : 'Show all branches',
  })}
  <datalist id="branches">${names.slice(0, maxSuggested).map((name) => html`<option value="${name}"></option>`)}</datalist>`;

function noSyncs(branch: string): Markup {
  if (branch !== '') {
    return empty('No sync of this branch is kept.', 'Enter the full name. Old syncs are removed.');
  }
  return empty(
    'Nothing has been synced yet.',
    html`A sync brings a branch of the remote into the mirror. A workflow starts one with <code>operation: sync</code>, and a git server
      with a push event.`,
  );
}

export function addOneSyncPage(site: Site): void {
  const { storage } = site;

  async function addressed({ c, workspace }: WorkspaceCall): Promise<RecordedSync> {
    const id = c.req.param('sync') ?? '';
    const sync = isSyncId(id) ? await findRecordedSync(storage, workspace.id, id) : undefined;
    if (sync === undefined) throw new Refusal('not-found', 'This workspace has no such sync.');
    return sync;
  }

  addWorkspacePage(site, { path: '/syncs/:sync', access: 'sync' }, async (call) => {
    const workspace = call.workspace.id;
    const sync = await addressed(call);
    return {
      title: `Sync of ${sync.branch}`,
      actions: actions(workspace, sync),
      main: show(call, workspace, sync),
      ...(sync.finished_at === null && { script: 'live.js' }),
    };
  });

  const see = async (call: WorkspaceCall) => {
    const { sync_id } = await addressed(call);
    const read = async () => JSON.stringify((await findRecordedSync(storage, call.workspace.id, sync_id)) ?? null);
    return { key: sync_id, read };
  };
  addWorkspacePage(site, { path: '/syncs/:sync/events', access: 'sync' }, livePage(site, see));
}

const show = ({ now }: PageCall, workspace: string, sync: RecordedSync): Markup => html`
  <dl class="facts">
    <dt>State</dt><dd><span role="status" data-part="state"><span class="state ${sync.status}">${sync.status}</span></span></dd>
    <dt>Branch</dt><dd>${literal(sync.branch)}</dd>
    <dt>Requested</dt><dd>${time(sync.created_at, now)} by ${userText(sync.requested_by)}</dd>
    <div data-part="facts">${changingFacts(sync, now)}</div>
  </dl>
  <div class="sync" data-part="result">
    ${progressBar(sync)}
    ${sync.missing_objects === 0 ? '' : html`<div class="warning">${missingText(sync)}</div>`}
    ${sync.error === null ? '' : html`<div class="warning">${safeLines(sync.error)}</div>`}
  </div>
  ${sync.finished_at === null ? liveState(`${syncsUrl(workspace)}/${sync.sync_id}/events`, now) : ''}`;

function changingFacts(sync: RecordedSync, now: number): Markup {
  const { started_at: started, finished_at: finished, head } = sync;
  const took = runTime(sync);
  const bytes = bytesText(sync);
  return html`
    ${started === null ? '' : html`<dt>Started</dt><dd>${time(started, now)}</dd>`}
    ${finished === null ? '' : html`<dt>Finished</dt><dd>${time(finished, now)}</dd>`}
    ${took === undefined ? '' : html`<dt>Took</dt><dd>${formatElapsed(took)}</dd>`}
    <dt>Objects received</dt><dd>${objects(sync)}</dd>
    ${bytes === '' ? '' : html`<dt>LFS objects</dt><dd>${bytes}</dd>`}
    ${head === null ? '' : html`<dt>Commit</dt><dd>${literal(head)}</dd>`}`;
}

/** Progress in bytes, or in objects if the bytes are unknown; empty without an estimate. */
function progressBar(sync: Sync): Markup | string {
  const { status, received_objects, estimated_objects, received_bytes, total_bytes } = sync;
  const [value, max] =
    total_bytes !== null && total_bytes > 0
      ? [received_bytes, total_bytes]
      : [received_objects, estimated_objects > 0 ? Math.max(received_objects, estimated_objects) : 0];
  if (status !== 'running' || max === 0) return '';
  return html`<p class="progress"><progress aria-label="Objects received" value="${value}" max="${max}"></progress></p>`;
}

function bytesText({ finished_at, received_bytes, total_bytes }: Sync): string {
  if (total_bytes === null || total_bytes === 0) return '';
  const received = byteSize(received_bytes);
  return finished_at === null ? `${received} of ${byteSize(total_bytes)}` : received;
}

function missingText({ missing_objects: count, missing }: Sync): string {
  const others = count - missing.length;
  return [
    `${pluralize(count, 'LFS object')} could not be fetched. The next sync retries them.`,
    ...missing.map(({ path, detail }) => `${safeText(path)}: ${safeText(detail)}`),
    ...(others > 0 ? [`And ${pluralize(others, 'other')}.`] : []),
  ].join('\n');
}

const actions = (workspace: string, { branch }: RecordedSync): Markup => html`
  <a class="button" href="${urlWith(syncsUrl(workspace), { branch })}">All syncs of this branch</a>`;

/** Number of received objects, and the estimated total while the sync runs. */
function objects({ finished_at, received_objects, estimated_objects }: Sync): string {
  const received = formatNumber(received_objects);
  if (finished_at !== null || estimated_objects === 0) return received;
  return `${received} of about ${formatNumber(estimated_objects)}`;
}

/** Duration of a sync, without the time in the queue; undefined until it has ended. */
function runTime({ started_at, finished_at }: Sync): number | undefined {
  if (started_at === null || finished_at === null) return undefined;
  return Date.parse(finished_at) - Date.parse(started_at);
}

const syncsUrl = (workspace: string): string => `/workspaces/${workspace}/syncs`;
