import { html } from 'hono/html';
import { formatElapsed, formatNumber, pluralize } from '../../../interface/format.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { byteSize } from '../../../interface/transfer.ts';
import type { Sync } from '../../contract/schemas.ts';
import { listSyncs, type RecordedSync } from '../../syncs/list.ts';
import { empty, htmlTable, literal, liveState, type Row, safeLines, time, userText } from '../elements/markup.ts';
import type { PageCall } from '../frame/layout.ts';
import { addWorkspacePage, type Site } from '../frame/page.ts';

const maxShown = 100;

export function addSyncsPage(site: Site): void {
  addWorkspacePage(site, '/syncs', 'sync', async (call) => {
    const syncs = await listSyncs(site.storage, call.workspace.id, maxShown);
    const main = html`${liveState(call.now)}
      <div data-part="syncs">${syncs.length === 0 ? noSyncs : htmlTable(syncs.map((sync) => row(call, sync)))}</div>`;
    return { title: 'Syncs', main };
  });
}

const noSyncs = empty(
  'Nothing has been synced yet.',
  html`A sync brings a branch of the remote into the mirror. A workflow starts one with <code>operation: sync</code>, and a git server
    with a push event.`,
);

function row({ now }: PageCall, sync: RecordedSync): Row {
  const { status, branch, error, head, missing_objects: missing, started_at: started, finished_at: finished } = sync;
  const problem = [missing === 0 ? '' : missingText(sync), safeLines(error ?? '')].join('\n').trim();
  const took = started === null || finished === null ? '' : formatElapsed(Date.parse(finished) - Date.parse(started));
  return [
    ['State', html`<span class="state ${status}">${status}</span>`],
    ['Branch', html`${literal(branch)}${problem === '' ? '' : html`<pre class="problem">${problem}</pre>`}`, 'head'],
    ['Requested', time(sync.created_at, now)],
    ['Took', took, 'nowrap'],
    ['Objects', objects(sync), 'nowrap'],
    ['Commit', head === null ? '' : literal(head.slice(0, 10)), 'nowrap'],
    ['By', userText(sync.requested_by)],
  ];
}

function missingText({ missing_objects: count, missing }: Sync): string {
  const others = count - missing.length;
  return [
    `${pluralize(count, 'LFS object')} could not be fetched. The next sync retries them.`,
    ...missing.map(({ path, detail }) => `${safeText(path)}: ${safeText(detail)}`),
    ...(others > 0 ? [`And ${pluralize(others, 'other')}.`] : []),
  ].join('\n');
}

/** The received objects and bytes; during a sync, also the totals. */
function objects({ finished_at, received_objects, estimated_objects, received_bytes, total_bytes }: Sync): string {
  const isRunning = finished_at === null;
  const number = formatNumber(received_objects);
  const count = isRunning && estimated_objects > 0 ? `${number} of about ${formatNumber(estimated_objects)}` : number;
  if (total_bytes === null || total_bytes === 0) return count;
  return `${count}, ${byteSize(received_bytes)}${isRunning ? ` of ${byteSize(total_bytes)}` : ''} of LFS`;
}
