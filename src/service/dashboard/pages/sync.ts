import { setTimeout as sleep } from 'node:timers/promises';
import { html } from 'hono/html';
import type { Sync } from '../../../interface/resources.ts';
import { byteSize, createPace } from '../../../interface/transfer.ts';
import { Refusal } from '../../contract/problem.ts';
import { safeText } from '../../platform/safe-text.ts';
import { findRecordedSync, type RecordedSync } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import { plural } from '../assets/text.js';
import { duration, literal, liveState, type Markup, safeLines, time, userText } from '../elements/text.ts';
import { addLivePage } from '../frame/live-page.ts';
import { addWorkspacePage, type PageCall, type Site, type WorkspaceCall } from '../frame/page.ts';
import { objects, runTime } from './syncs.ts';

/** The instance that runs the sync writes its row each second. */
const lookEveryMs = 1_000;

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

  addLivePage(site, { path: '/syncs/:sync/events', access: 'sync' }, async (call) => {
    const { sync_id } = await addressed(call);
    return async ({ send, gone }) => {
      const paceOf = createPace();
      for (let known = ''; ; ) {
        const sync = await findRecordedSync(storage, call.workspace.id, sync_id);
        // The workspace was removed. The page reconnects, and then receives the error.
        if (sync === undefined) return;
        const pace = paceOf({ bytes: sync.received_bytes, total: sync.total_bytes ?? 0 }, performance.now());
        const seen = JSON.stringify(sync);
        if (seen !== known) await send('changed', pace);
        if (sync.finished_at !== null) return send('over');
        known = seen;
        await sleep(lookEveryMs, undefined, { signal: gone });
      }
    };
  });
}

const show = ({ now }: PageCall, workspace: string, sync: RecordedSync): Markup => html`
  <dl class="facts">
    <dt>State</dt><dd><span role="status" data-part="state"><span class="state ${sync.status}">${sync.status}</span></span></dd>
    <dt>Branch</dt><dd>${literal(sync.branch)}</dd>
    <dt>Asked for</dt><dd>${time(sync.created_at, now)}${sync.requested_by === null ? '' : html` by ${userText(sync.requested_by)}`}</dd>
    <div data-part="facts">${changingFacts(sync, now)}</div>
  </dl>
  <div class="sync" data-part="result">
    ${progressBar(sync)}
    ${sync.missing_objects === 0 ? '' : html`<div class="warning">${missingText(sync)}</div>`}
    ${sync.error === null ? '' : html`<div class="warning">${safeLines(sync.error)}</div>`}
  </div>
  ${sync.finished_at === null ? liveState(`/workspaces/${workspace}/syncs/${sync.sync_id}/events`, now) : ''}`;

function changingFacts(sync: RecordedSync, now: number): Markup {
  const { started_at: began, finished_at: ended, head } = sync;
  const took = runTime(sync);
  const bytes = bytesText(sync);
  return html`
    ${began === null ? '' : html`<dt>Began</dt><dd>${time(began, now)}</dd>`}
    ${ended === null ? '' : html`<dt>Ended</dt><dd>${time(ended, now)}</dd>`}
    ${took === undefined ? '' : html`<dt>Took</dt><dd>${duration(took)}</dd>`}
    <dt>Objects received</dt><dd>${objects(sync)}</dd>
    ${bytes === '' ? '' : html`<dt>LFS objects</dt><dd>${bytes}${ended === null ? html` <span data-note></span>` : ''}</dd>`}
    ${head === null ? '' : html`<dt>Commit</dt><dd>${literal(head)}</dd>`}`;
}

/** Progress in bytes, or in objects if the bytes are unknown; empty without an estimate. */
function progressBar({
  status,
  received_objects,
  estimated_objects,
  received_bytes,
  total_bytes,
}: Sync): Markup | string {
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
    `${plural(count, 'LFS object')} could not be fetched. The next sync retries them.`,
    ...missing.map(({ path, detail }) => `${safeText(path)}: ${safeText(detail)}`),
    ...(others > 0 ? [`And ${plural(others, 'other')}.`] : []),
  ].join('\n');
}

const actions = (workspace: string, { branch, finished_at }: RecordedSync): Markup => html`
  <a class="button" href="/workspaces/${workspace}/syncs?${new URLSearchParams({ branch })}">All syncs of this branch</a>
  <span data-part="again">${
    finished_at === null
      ? ''
      : html`<form method="post" action="/workspaces/${workspace}/sync">
          <input type="hidden" name="branch" value="${branch}"><button class="primary">Sync again</button>
        </form>`
  }</span>`;
