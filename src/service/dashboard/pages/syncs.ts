import { html } from 'hono/html';
import { formatElapsed, formatNumber, pluralize } from '../../../interface/format.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { byteSize } from '../../../interface/transfer.ts';
import type { Sync } from '../../contract/schemas.ts';
import { listSyncs, type RecordedSync, type SyncPosition } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import { link, listPage, positionIn, type Row, urlWith } from '../elements/list.ts';
import { empty, literal, liveState, safeLines, time, userText } from '../elements/text.ts';
import { addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';

const pageSize = 50;

export function addSyncsPage(site: Site): void {
  const { storage } = site;
  addWorkspacePage(site, { path: '/syncs', access: 'sync' }, async (call) => {
    const { id } = call.workspace;
    const { branch, ...query } = queryOf(call, 'branch', 'before');
    const before = positionIn(query.before, parsePosition);
    const only = branch === '' ? undefined : branch;
    const { syncs, next } = await listSyncs(storage, id, { branch: only, before, limit: pageSize });
    const page = listPage({
      rows: syncs.map((sync) => row(call, sync)),
      isLater: before !== undefined,
      next: next && `${next.createdAt}.${next.id}`,
      urlOf: (before) => syncsUrl(id, { branch, before }),
      none: branch === '' ? noSyncs : empty('No sync of this branch is kept.', 'Old syncs are removed.'),
    });
    const filter =
      branch === '' ? '' : html`<p>Only ${literal(branch)}. ${link(syncsUrl(id), 'Show all branches')}</p>`;
    return { title: 'Syncs', main: html`${filter}${liveState(call.now)}<div data-part="syncs">${page}</div>` };
  });
}

const syncsUrl = (workspace: string, query: Readonly<Record<string, string | undefined>> = {}): string =>
  urlWith(`/workspaces/${workspace}/syncs`, query);

const noSyncs = empty(
  'Nothing has been synced yet.',
  html`A sync brings a branch of the remote into the mirror. A workflow starts one with <code>operation: sync</code>, and a git server
    with a push event.`,
);

function parsePosition(text: string): SyncPosition | undefined {
  const [, createdAt = '', id = ''] = /^(\d{1,15})\.(.*)$/.exec(text) ?? [];
  return isSyncId(id) ? { createdAt: Number(createdAt), id } : undefined;
}

function row({ now, workspace }: WorkspaceCall, sync: RecordedSync): Row {
  const { status, branch, error, head, missing_objects: missing, started_at: started, finished_at: finished } = sync;
  const problem = [...(missing === 0 ? [] : [missingText(sync)]), ...(error === null ? [] : [safeLines(error)])].join(
    '\n',
  );
  const took = started === null || finished === null ? '' : formatElapsed(Date.parse(finished) - Date.parse(started));
  return [
    ['State', html`<span class="state ${status}">${status}</span>`],
    [
      'Branch',
      html`<a href="${syncsUrl(workspace.id, { branch })}">${literal(branch)}</a>${problem === '' ? '' : html`<pre class="problem">${problem}</pre>`}`,
      'head',
    ],
    ['Requested', time(sync.created_at, now)],
    ['Took', took, 'number nowrap'],
    ['Objects', objects(sync), 'number nowrap'],
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

/** The received objects and bytes, with their totals while the sync runs. */
function objects({ finished_at, received_objects, estimated_objects, received_bytes, total_bytes }: Sync): string {
  const isRunning = finished_at === null;
  const number = formatNumber(received_objects);
  const count = isRunning && estimated_objects > 0 ? `${number} of about ${formatNumber(estimated_objects)}` : number;
  if (total_bytes === null || total_bytes === 0) return count;
  return `${count}, ${byteSize(received_bytes)}${isRunning ? ` of ${byteSize(total_bytes)}` : ''} of LFS`;
}
