import { setTimeout as sleep } from 'node:timers/promises';
import { html } from 'hono/html';
import type { SyncStatus, Timestamp } from '../../../interface/resources.ts';
import { Refusal } from '../../contract/problem.ts';
import type { App } from '../../http/context.ts';
import { safeText } from '../../safe-text.ts';
import { findRecordedSync, type RecordedSync } from '../../syncs/list.ts';
import { isSyncId } from '../../syncs/queue.ts';
import type { DashboardParts } from '../dashboard.ts';
import { duration } from '../elements/duration.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal, safeLines } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { formField, showPage } from '../layout.ts';
import { addLivePage, type LiveControl } from '../live/live-page.ts';
import { addPage, type PageCall, workspaceOf } from '../page.ts';
import { runTime } from './run-time.ts';
import { objects } from './sync-history.ts';

/** The row is written each second while the sync runs (see syncs/run.ts), whichever instance runs it. */
const lookEveryMs = 500;

/** What changes while a sync goes on, as the page shows it and as its script is told. */
interface Course {
  readonly status: SyncStatus;
  readonly isOver: boolean;
  /** Null where there is nothing to measure it by. */
  readonly progress: { readonly value: number; readonly max: number } | null;
  /** Empty: not known yet. */
  readonly texts: Readonly<Record<'objects' | 'took' | 'head' | 'error', string>>;
  readonly times: Readonly<Record<'began' | 'ended', Timestamp | null>>;
}

function courseOf(sync: RecordedSync): Course {
  const { status, received_objects: received, estimated_objects: estimated, head, error } = sync;
  const took = runTime(sync);
  return {
    status,
    isOver: sync.finished_at !== null,
    progress: status === 'running' && estimated > 0 ? { value: received, max: Math.max(received, estimated) } : null,
    texts: {
      objects: objects(sync),
      took: took === undefined ? '' : duration(took),
      head: safeText(head ?? ''),
      error: safeLines(error ?? ''),
    },
    times: { began: sync.started_at, ended: sync.finished_at },
  };
}

const hiddenIf = (isHidden: boolean): Markup => (isHidden ? html` hidden` : html``);

const timeFact = (name: keyof Course['times'], label: string, { times }: Course, now: number): Markup => {
  const at = times[name];
  return html`<dt${hiddenIf(at === null)}>${label}</dt>
    <dd data-time="${name}"${hiddenIf(at === null)}>${at === null ? html`<time></time>` : time(at, now)}</dd>`;
};

const textFact = (name: keyof Course['texts'], label: string, { texts }: Course): Markup =>
  html`<dt${hiddenIf(texts[name] === '')}>${label}</dt><dd data-text="${name}"${hiddenIf(texts[name] === '')}>${texts[name]}</dd>`;

const facts = (sync: RecordedSync, course: Course, now: number): Markup => html`<dl class="facts">
    <dt>State</dt><dd><span role="status"><span class="state ${course.status}" data-state>${course.status}</span></span></dd>
    <dt>Branch</dt><dd>${literal(sync.branch)}</dd>
    <dt>Asked for</dt><dd>${time(sync.created_at, now)}${sync.requested_by === null ? '' : html` by ${given(sync.requested_by)}`}</dd>
    ${timeFact('began', 'Began', course, now)}
    ${timeFact('ended', 'Ended', course, now)}
    ${textFact('took', 'Took', course)}
    ${textFact('objects', 'Objects received', course)}
    ${textFact('head', 'Commit', course)}
  </dl>`;

const progress = ({ progress: known }: Course): Markup =>
  html`<p class="progress"${hiddenIf(known === null)}>
    <progress aria-label="Objects received" value="${known?.value ?? 0}" max="${known?.max ?? 1}"></progress>
  </p>`;

function show(call: PageCall, workspace: string, sync: RecordedSync): Markup {
  const course = courseOf(sync);
  const { isOver, texts } = course;
  return html`<div class="sync" data-events="/workspaces/${workspace}/syncs/${sync.sync_id}/events"${isOver ? html` data-over` : ''}>
    ${facts(sync, course, call.now)}
    ${progress(course)}
    <div class="warning" data-text="error"${hiddenIf(texts.error === '')}>${texts.error}</div>
    <p class="faint" data-live${hiddenIf(isOver)}>This is how it was when the page was opened. <a href="">Look again</a></p>
    <div class="actions">
      <form method="post" action="/workspaces/${workspace}/sync" data-again${hiddenIf(!isOver)}>
        ${formField(call)}<input type="hidden" name="branch" value="${sync.branch}">
        <button class="primary">Sync again</button>
      </form>
      <a class="button" href="/workspaces/${workspace}/syncs?${new URLSearchParams({ branch: sync.branch })}">All syncs of this branch</a>
    </div>
  </div>`;
}

export function addOneSyncPage(app: App, parts: DashboardParts & LiveControl): void {
  const { storage } = parts;

  async function addressed(call: PageCall): Promise<{ readonly workspace: string; readonly sync: RecordedSync }> {
    const { id: workspace } = await workspaceOf(call, storage);
    const id = call.c.req.param('sync') ?? '';
    const sync = isSyncId(id) ? await findRecordedSync(storage, workspace, id) : undefined;
    if (sync === undefined) throw new Refusal('not-found', 'There is no such sync in this workspace.');
    return { workspace, sync };
  }

  addPage(app, parts, { path: '/workspaces/:id/syncs/:sync', access: 'sync' }, async (call) => {
    const { workspace, sync } = await addressed(call);
    return showPage(call, {
      title: `Sync of ${safeText(sync.branch)}`,
      place: { section: 'workspaces', workspace, tab: 'syncs' },
      main: show(call, workspace, sync),
      scripts: ['sync.js'],
      styles: ['syncs.css'],
    });
  });

  addLivePage(app, parts, { path: '/workspaces/:id/syncs/:sync/events', access: 'sync' }, async (call) => {
    const { workspace, sync: asked } = await addressed(call);
    return async ({ send, gone }) => {
      for (let told = ''; ; ) {
        const sync = await findRecordedSync(storage, workspace, asked.sync_id);
        // The workspace was removed. The page that asks again is told so.
        if (sync === undefined) return;
        const course = courseOf(sync);
        const now = JSON.stringify(course);
        if (now !== told) await send('course', course);
        if (course.isOver) return;
        told = now;
        await sleep(lookEveryMs, undefined, { signal: gone });
      }
    };
  });
}
