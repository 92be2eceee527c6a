import { setTimeout as sleep } from 'node:timers/promises';
import { html } from 'hono/html';
import type { Sync, SyncStatus, Timestamp } from '../../../interface/resources.ts';
import { byteSize, createPace } from '../../../interface/transfer.ts';
import { Refusal } from '../../contract/problem.ts';
import type { App } from '../../http/context.ts';
import { findRecordedSync, type RecordedSync } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import { plural, safeText } from '../assets/text.js';
import { duration, literal, type Markup, safeLines, time, userText } from '../elements/text.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { addLivePage, type LiveControl } from '../frame/live-page.ts';
import { addPage, type PageCall, requestedWorkspace } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { objects, runTime } from './syncs.ts';

/** The instance that runs the sync writes its row each second. */
const lookEveryMs = 500;

export function addOneSyncPage(app: App, parts: DashboardParts & LiveControl): void {
  const { storage } = parts;

  async function addressed(call: PageCall): Promise<{ readonly workspace: string; readonly sync: RecordedSync }> {
    const { id: workspace } = await requestedWorkspace(call, storage);
    const id = call.c.req.param('sync') ?? '';
    const sync = isSyncId(id) ? await findRecordedSync(storage, workspace, id) : undefined;
    if (sync === undefined) throw new Refusal('not-found', 'This workspace has no such sync.');
    return { workspace, sync };
  }

  addPage(app, parts, { path: '/workspaces/:id/syncs/:sync', access: 'sync' }, async (call) => {
    const { workspace, sync } = await addressed(call);
    const location = inWorkspace(workspace, 'syncs');
    const main = show(call, workspace, sync);
    const view = { title: `Sync of ${sync.branch}`, actions: actions(workspace, sync), location, main };
    return showPage(call, { ...view, script: 'sync.js' });
  });

  addLivePage(app, parts, { path: '/workspaces/:id/syncs/:sync/events', access: 'sync' }, async (call) => {
    const { workspace, sync: asked } = await addressed(call);
    return async ({ send, gone }) => {
      const paceOf = createPace();
      for (let told = ''; ; ) {
        const sync = await findRecordedSync(storage, workspace, asked.sync_id);
        // The workspace was removed. The page reconnects, and then receives the error.
        if (sync === undefined) return;
        const pace = paceOf({ bytes: sync.received_bytes, total: sync.total_bytes ?? 0 }, performance.now());
        const progress = progressOf(sync, pace);
        const now = JSON.stringify(progress);
        if (now !== told) await send('progress', progress);
        if (progress.isOver) return;
        told = now;
        await sleep(lookEveryMs, undefined, { signal: gone });
      }
    };
  });
}

function show(call: PageCall, workspace: string, sync: RecordedSync): Markup {
  const progress = progressOf(sync);
  const { isOver, texts } = progress;
  return html`<div class="sync" data-events="/workspaces/${workspace}/syncs/${sync.sync_id}/events"${isOver ? html` data-over` : ''}>
    ${facts(sync, progress, call.now)}
    ${progressBar(progress)}
    <div class="warning" data-text="missing"${hiddenIf(texts.missing === '')}>${texts.missing}</div>
    <div class="warning" data-text="error"${hiddenIf(texts.error === '')}>${texts.error}</div>
    <p class="faint" data-live${hiddenIf(isOver)}>This is the state as of when the page was opened. <a href="">Refresh</a></p>
  </div>`;
}

/** Values that change while a sync runs, for the page and its script. */
interface SyncProgress {
  readonly status: SyncStatus;
  readonly isOver: boolean;
  /** Null without an estimate. */
  readonly bar: { readonly value: number; readonly max: number } | null;
  /** Empty if not known yet. */
  readonly texts: Readonly<Record<'objects' | 'bytes' | 'took' | 'head' | 'missing' | 'error', string>>;
  readonly times: Readonly<Record<'began' | 'ended', Timestamp | null>>;
}

/** `pace` is the transfer rate; empty if unknown. */
function progressOf(sync: RecordedSync, pace = ''): SyncProgress {
  const { status, head, error } = sync;
  const took = runTime(sync);
  return {
    status,
    isOver: sync.finished_at !== null,
    bar: barOf(sync),
    texts: {
      objects: objects(sync),
      bytes: bytesText(sync, pace),
      took: took === undefined ? '' : duration(took),
      head: safeText(head ?? ''),
      missing: missingText(sync),
      error: safeLines(error ?? ''),
    },
    times: { began: sync.started_at, ended: sync.finished_at },
  };
}

/** Progress in bytes, or in objects if the bytes are unknown. */
function barOf({
  status,
  received_objects,
  estimated_objects,
  received_bytes,
  total_bytes,
}: Sync): SyncProgress['bar'] {
  if (status !== 'running') return null;
  if (total_bytes !== null && total_bytes > 0) return { value: received_bytes, max: total_bytes };
  return estimated_objects > 0 ? { value: received_objects, max: Math.max(received_objects, estimated_objects) } : null;
}

function bytesText({ finished_at, received_bytes, total_bytes }: Sync, pace: string): string {
  if (total_bytes === null || total_bytes === 0) return '';
  if (finished_at !== null) return byteSize(received_bytes);
  return `${byteSize(received_bytes)} of ${byteSize(total_bytes)}${pace === '' ? '' : ` (${pace})`}`;
}

function missingText({ missing_objects: count, missing }: Sync): string {
  if (count === 0) return '';
  const others = count - missing.length;
  return [
    `${plural(count, 'LFS object')} could not be fetched. The next sync retries them.`,
    ...missing.map(({ path, detail }) => `${safeText(path)}: ${safeText(detail)}`),
    ...(others > 0 ? [`And ${plural(others, 'other')}.`] : []),
  ].join('\n');
}

const facts = (sync: RecordedSync, progress: SyncProgress, now: number): Markup => html`<dl class="facts">
    <dt>State</dt><dd><span role="status"><span class="state ${progress.status}" data-state>${progress.status}</span></span></dd>
    <dt>Branch</dt><dd>${literal(sync.branch)}</dd>
    <dt>Asked for</dt><dd>${time(sync.created_at, now)}${sync.requested_by === null ? '' : html` by ${userText(sync.requested_by)}`}</dd>
    ${timeFact('began', 'Began', progress, now)}
    ${timeFact('ended', 'Ended', progress, now)}
    ${textFact('took', 'Took', progress)}
    ${textFact('objects', 'Objects received', progress)}
    ${textFact('bytes', 'LFS objects', progress)}
    ${textFact('head', 'Commit', progress)}
  </dl>`;

const timeFact = (name: keyof SyncProgress['times'], label: string, { times }: SyncProgress, now: number): Markup => {
  const at = times[name];
  return html`<dt${hiddenIf(at === null)}>${label}</dt>
    <dd data-time="${name}"${hiddenIf(at === null)}>${at === null ? html`<time></time>` : time(at, now)}</dd>`;
};

const textFact = (name: keyof SyncProgress['texts'], label: string, { texts }: SyncProgress): Markup =>
  html`<dt${hiddenIf(texts[name] === '')}>${label}</dt><dd data-text="${name}"${hiddenIf(texts[name] === '')}>${texts[name]}</dd>`;

const progressBar = ({ bar }: SyncProgress): Markup =>
  html`<p class="progress"${hiddenIf(bar === null)}>
    <progress aria-label="Objects received" value="${bar?.value ?? 0}" max="${bar?.max ?? 1}"></progress>
  </p>`;

const actions = (workspace: string, { branch, finished_at }: RecordedSync): Markup => html`
  <a class="button" href="/workspaces/${workspace}/syncs?${new URLSearchParams({ branch })}">All syncs of this branch</a>
  <form method="post" action="/workspaces/${workspace}/sync" data-again${hiddenIf(finished_at === null)}>
    <input type="hidden" name="branch" value="${branch}">
    <button class="primary">Sync again</button>
  </form>`;

const hiddenIf = (isHidden: boolean): Markup => (isHidden ? html` hidden` : html``);
