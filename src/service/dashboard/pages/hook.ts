import { html } from 'hono/html';
import { invalid } from '../../contract/problem.ts';
import { type App, actorOf } from '../../http/context.ts';
import {
  type DeliveryFilter,
  type DeliveryOverview,
  type DeliveryPage,
  deliveryFilters,
  listDeliveries,
} from '../../webhooks/delivery-list.ts';
import { shownUrl } from '../../webhooks/delivery-request.ts';
import { findHookOverview, type HookOverview } from '../../webhooks/hook-overview.ts';
import { type InactiveWhy, removeHook } from '../../webhooks/hooks.ts';
import { type Pause, pauseHook, type Resumption, resumeHook } from '../../webhooks/pause-hook.ts';
import { plural } from '../assets/text.js';
import {
  deliveryState,
  droppedEvents,
  formatNames,
  hookState,
  type Notice,
  nextAttempt,
  noticeOf,
  shownBranches,
  subjectOf,
} from '../elements/hook.ts';
import { empty, faint, literal, literals, type Markup, userText } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { seeOther } from '../frame/answer.ts';
import { formField } from '../frame/form.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { addAction, addPage, type PageCall, queryOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { addressedHook, noSuchHook } from './addressed-hook.ts';

const pageSize = 50;

const whyInactive: Readonly<Record<InactiveWhy, Markup>> = {
  paused: html`<p class="warning">It is paused. New events are not queued for it, and waiting deliveries are held until it is resumed.</p>`,
  gone: html`<p class="warning">Its receiver answered 410 (Gone), so waiting deliveries were dropped. Resume it when the receiver
    wants deliveries again, or remove it.</p>`,
};

function actions(call: PageCall, page: string, { inactive_why }: HookOverview): Markup {
  const act = (action: string, text: string, kind: string) =>
    html`<form method="post" action="${page}/${action}">${formField(call)}<button${kind === '' ? '' : html` class="${kind}"`}>${text}</button></form>`;
  return html`<div class="actions">
    ${inactive_why === null ? act('pause', 'Pause', '') : act('resume', 'Resume', 'primary')}
    <a class="button danger" href="${page}/remove">Remove…</a>
  </div>`;
}

function facts({ now }: PageCall, workspace: string, hook: HookOverview): Markup {
  const { pending_deliveries: waiting, failed_deliveries: failed } = hook;
  return html`<dl class="facts">
    <dt>Address</dt><dd>${literal(shownUrl(hook.url))}</dd>
    <dt>State</dt><dd>${hookState(hook.inactive_why)}</dd>
    <dt>Events</dt><dd>${literals(hook.events)}</dd>
    <dt>Branches</dt><dd>${shownBranches(hook)}</dd>
    <dt>Format</dt><dd>${formatNames[hook.format]}</dd>
    <dt>Extra headers</dt><dd>${hook.header_names.length === 0 ? faint('none') : html`${literals(hook.header_names)} <span class="faint">(values are not shown)</span>`}</dd>
    <dt>Registered</dt><dd>${time(hook.created_at, now)}${hook.updated_at === hook.created_at ? '' : html`, changed ${time(hook.updated_at, now)}`}</dd>
    <dt>Deliveries</dt><dd>${waiting.toLocaleString('en-US')} waiting, ${failed.toLocaleString('en-US')} of the latest hundred failed</dd>
  </dl>
  <p class="hint">To change it or its secret, <a href="/workspaces/${workspace}/hooks/new">register the same address again</a>.</p>`;
}

const isFilter = (text: string): text is DeliveryFilter => deliveryFilters.some((filter) => filter === text);

interface Shown {
  readonly only: DeliveryFilter | undefined;
  readonly before: number | undefined;
}

function shownOf(call: PageCall): Shown {
  const { state, before } = queryOf(call, 'state', 'before');
  if (before !== '' && !/^\d{1,15}$/.test(before)) {
    throw invalid({ pointer: '#/before', detail: 'There is no such page. Start again without it.' });
  }
  return { only: isFilter(state) ? state : undefined, before: before === '' ? undefined : Number(before) };
}

function noDeliveries(page: string, { only, before }: Shown): Markup {
  if (before !== undefined) return empty('There are no older deliveries.', html`<a href="${page}">Show the newest</a>`);
  if (only !== undefined) {
    return empty(
      'No delivery is in this state.',
      html`<a href="${page}">Show all deliveries</a>. Finished ones are kept for a week.`,
    );
  }
  return empty(
    'Nothing has been delivered yet.',
    'The next matching event appears here. Start a sync, or take and release a lock.',
  );
}

function pageLinks(page: string, { only, before }: Shown, { next }: DeliveryPage): Markup {
  const address = (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ ...(only !== undefined && { state: only }), ...more }).toString();
    return query === '' ? page : `${page}?${query}`;
  };
  return html`<nav class="pages" aria-label="Pages">
    ${before === undefined ? html`<a href="${address({})}">Reload</a>` : html`<a href="${address({})}">Newest</a>`}
    ${next === undefined ? '' : html`<a href="${address({ before: String(next) })}" rel="next">Older</a>`}
  </nav>`;
}

export function addHookPage(app: App, parts: DashboardParts): void {
  const { storage } = parts;
  addPage(app, parts, { path: '/workspaces/:id/hooks/:hook', access: 'hooks:write' }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const shown = shownOf(call);
    const [overview, deliveries] = await Promise.all([
      findHookOverview(storage.read, workspace, hook.id),
      listDeliveries(storage, hook, { limit: pageSize, ...shown }),
    ]);
    if (overview === undefined) throw noSuchHook();
    const page = `/workspaces/${workspace}/hooks/${hook.id}`;
    const main = html`
      ${noticeOf(queryOf(call, 'notice').notice)}
      ${overview.inactive_why === null ? '' : whyInactive[overview.inactive_why]}
      ${droppedEvents(overview, call.now)}
      ${actions(call, page, overview)}
      ${facts(call, workspace, overview)}
      <h2 id="deliveries">Deliveries</h2>
      ${filterLinks(page, shown.only)}
      ${deliveries.deliveries.length === 0 ? noDeliveries(page, shown) : deliveryTable(call, page, deliveries.deliveries)}
      ${pageLinks(page, shown, deliveries)}`;
    return showPage(call, {
      title: `Webhook to ${new URL(hook.url).host}`,
      location: inWorkspace(workspace, 'hooks'),
      main,
      styles: ['hooks.css'],
    });
  });
}

const filters: readonly (readonly [filter: DeliveryFilter | undefined, text: string])[] = [
  [undefined, 'All'],
  ['open', 'Unfinished'],
  ['failed', 'Failed'],
  ['delivered', 'Delivered'],
  ['dropped', 'Dropped'],
];

export const filterLinks = (page: string, current: DeliveryFilter | undefined): Markup =>
  html`<nav class="states" aria-label="Deliveries by state"><ul>${filters.map(
    ([filter, text]) =>
      html`<li><a href="${page}${filter === undefined ? '' : `?state=${filter}`}"${filter === current ? html` aria-current="page"` : ''}>${text}</a></li>`,
  )}</ul></nav>`;

function row({ now }: PageCall, page: string, delivery: DeliveryOverview): Markup {
  const { id, event, state, attempts, last_attempt, last_error } = delivery;
  return html`<tr>
    <th scope="row"><a href="${page}/deliveries/${id}"><code>${event.type}</code> ${literal(subjectOf(event).name)}</a></th>
    <td data-label="State">${deliveryState(state)}</td>
    <td class="number" data-label="Attempts">${attempts}</td>
    <td data-label="Last attempt">${last_attempt === null ? faint('none yet') : time(last_attempt.at, now)}</td>
    <td data-label="Next attempt">${nextAttempt(delivery, now)}</td>
    <td data-label="Last error">${last_error === null ? faint('none') : userText(last_error)}</td>
  </tr>`;
}

export const deliveryTable = (call: PageCall, page: string, deliveries: readonly DeliveryOverview[]): Markup =>
  html`<table class="cards deliveries">
    <thead><tr>
      <th scope="col">Event</th>
      <th scope="col">State</th>
      <th scope="col" class="number">Attempts</th>
      <th scope="col">Last attempt</th>
      <th scope="col">Next attempt</th>
      <th scope="col">Last error</th>
    </tr></thead>
    <tbody>${deliveries.map((delivery) => row(call, page, delivery))}</tbody>
  </table>`;

const pagePath = '/workspaces/:id/hooks/:hook';
const access = 'hooks:write';

function noticeOfPause(pause: Pause): Notice {
  switch (pause.kind) {
    case 'paused':
      return 'paused';
    case 'inactive-already':
      return pause.why === 'paused' ? 'paused-already' : 'gone-already';
    case 'absent':
      throw noSuchHook();
  }
}

function noticeOfResumption(resumption: Resumption): Notice {
  switch (resumption.kind) {
    case 'resumed':
      return resumption.wasInactive === 'gone' ? 'resumed-gone' : 'resumed';
    case 'active-already':
      return 'active-already';
    case 'absent':
      throw noSuchHook();
  }
}

const whatIsLost = (waiting: number): Markup =>
  waiting === 0
    ? html`<p>No deliveries are waiting. Its list of deliveries is removed too.</p>`
    : html`<p class="warning"><strong>${plural(waiting, 'delivery is waiting', 'deliveries are waiting')} and will never be sent.</strong> Its list of
        deliveries is removed too.</p>`;

export function addHookChanges(app: App, parts: DashboardParts): void {
  const { storage, onLockEvent } = parts;

  addAction(app, parts, { path: `${pagePath}/pause`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const change = { workspace, id: hook.id, actor: actorOf(call.c) };
    const pause = await storage.commit({ workspace }, (db) => pauseHook(db, storage.now, change));
    return seeOther(`/workspaces/${workspace}/hooks/${hook.id}?notice=${noticeOfPause(pause)}`);
  });

  addAction(app, parts, { path: `${pagePath}/resume`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const change = { workspace, id: hook.id, actor: actorOf(call.c) };
    const resumption = await storage.commit({ workspace }, (db) => resumeHook(db, storage.now, change));
    onLockEvent();
    return seeOther(`/workspaces/${workspace}/hooks/${hook.id}?notice=${noticeOfResumption(resumption)}`);
  });

  addPage(app, parts, { path: `${pagePath}/remove`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const overview = await findHookOverview(storage.read, workspace, hook.id);
    if (overview === undefined) throw noSuchHook();
    const page = `/workspaces/${workspace}/hooks/${hook.id}`;
    const main = html`
      <p>The webhook to ${literal(shownUrl(hook.url))} receives nothing more. Registering it again creates a new one with a new secret.</p>
      ${whatIsLost(overview.pending_deliveries)}
      <form method="post" action="${page}/remove" class="actions">
        ${formField(call)}<button class="danger">Remove webhook</button> <a class="button" href="${page}">Cancel</a>
      </form>`;
    return showPage(call, { title: 'Remove this webhook?', location: inWorkspace(workspace, 'hooks'), main });
  });

  addAction(app, parts, { path: `${pagePath}/remove`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const removal = { workspace, id: hook.id, actor: actorOf(call.c) };
    if (!(await storage.commit({ workspace }, (db) => removeHook(db, storage.now, removal)))) throw noSuchHook();
    return seeOther(`/workspaces/${workspace}/hooks?notice=removed`);
  });
}
