import { html } from 'hono/html';
import type { App } from '../../http/operation.ts';
import { invalid } from '../../http/refusal.ts';
import {
  type DeliveryFilter,
  type DeliveryPage,
  deliveryFilters,
  listDeliveries,
} from '../../webhooks/delivery-list.ts';
import { findHookOverview, type HookOverview } from '../../webhooks/hook-overview.ts';
import type { InactiveWhy } from '../../webhooks/hooks.ts';
import { shownUrl } from '../../webhooks/shown-request.ts';
import type { DashboardParts } from '../dashboard.ts';
import { empty } from '../elements/empty.ts';
import type { Markup } from '../elements/markup.ts';
import { literal } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { formField, showPage } from '../layout.ts';
import { addPage, type PageCall, queryOf } from '../page.ts';
import { addressedHook, noSuchHook } from './addressed-hook.ts';
import { deliveryTable, filterLinks } from './delivery-table.ts';
import { noticeOf } from './notices.ts';
import { droppedEvents, formatNames, hookState, listed, shownBranches } from './words.ts';

const pageSize = 50;

const whyInactive: Readonly<Record<InactiveWhy, Markup>> = {
  paused: html`<p class="warning">It is paused: what happens now is not put down for it, and what waits for it is held until it is resumed.</p>`,
  gone: html`<p class="warning">Its receiver has answered 410, that it wants nothing more, and what waited was dropped. Resume it when
    the receiver wants deliveries again, or remove it.</p>`,
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
    <dt>Events</dt><dd>${listed(hook.events)}</dd>
    <dt>Branches</dt><dd>${shownBranches(hook)}</dd>
    <dt>Format</dt><dd>${formatNames[hook.format]}</dd>
    <dt>Extra headers</dt><dd>${hook.header_names.length === 0 ? html`<span class="faint">none</span>` : html`${listed(hook.header_names)} <span class="faint">(values are not shown)</span>`}</dd>
    <dt>Registered</dt><dd>${time(hook.created_at, now)}${hook.updated_at === hook.created_at ? '' : html`, changed ${time(hook.updated_at, now)}`}</dd>
    <dt>Deliveries</dt><dd>${waiting.toLocaleString('en-US')} waiting, ${failed.toLocaleString('en-US')} of the latest hundred failed</dd>
  </dl>
  <p class="hint">To change it, or to give it another secret, <a href="/workspaces/${workspace}/hooks/new">register the same address again</a>.</p>`;
}

const isFilter = (text: string): text is DeliveryFilter => deliveryFilters.some((filter) => filter === text);

interface Shown {
  readonly only: DeliveryFilter | undefined;
  readonly before: number | undefined;
}

function shownOf(call: PageCall): Shown {
  const { state, before } = queryOf(call, 'state', 'before');
  if (before !== '' && !/^\d{1,15}$/.test(before)) {
    throw invalid({ pointer: '#/before', detail: 'There is no such page. Begin again without it.' });
  }
  return { only: isFilter(state) ? state : undefined, before: before === '' ? undefined : Number(before) };
}

function noDeliveries(page: string, { only, before }: Shown): Markup {
  if (before !== undefined) return empty('There are no older deliveries.', html`<a href="${page}">Show the newest</a>`);
  if (only !== undefined) {
    return empty(
      'No delivery is in this state.',
      html`<a href="${page}">Show all deliveries</a>. Those that are over are kept for a week.`,
    );
  }
  return empty(
    'Nothing was delivered yet.',
    'The next event that it asks for appears here: start a sync, or take a lock and release it.',
  );
}

function pageLinks(page: string, { only, before }: Shown, { next }: DeliveryPage): Markup {
  const address = (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ ...(only !== undefined && { state: only }), ...more }).toString();
    return query === '' ? page : `${page}?${query}`;
  };
  return html`<nav class="pages" aria-label="Pages">
    ${before === undefined ? html`<a href="${address({})}">Look again</a>` : html`<a href="${address({})}">Newest</a>`}
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
      place: { section: 'workspaces', workspace, tab: 'hooks' },
      main,
      styles: ['cards.css', 'hooks.css'],
    });
  });
}
