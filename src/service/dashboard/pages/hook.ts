import { html } from 'hono/html';
import { formatNumber, pluralize } from '../../../interface/format.ts';
import type { HookFormat } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import { actorOf } from '../../http/context.ts';
import {
  type DeliveryFilter,
  type DeliveryOverview,
  deliveryFilters,
  listDeliveries,
} from '../../webhooks/delivery-list.ts';
import { redactedUrl } from '../../webhooks/delivery-request.ts';
import type { HookOverview } from '../../webhooks/hook-overview.ts';
import { noSuchHook, pauseHook, removeHook, resumeHook } from '../../webhooks/hooks.ts';
import { sendTest } from '../../webhooks/send-test.ts';
import { buttonLink, postForm } from '../elements/fields.ts';
import {
  branchList,
  deliveryState,
  droppedText,
  formatNames,
  hookState,
  hookUrl,
  inactiveTexts,
  nextAttempt,
  subjectOf,
} from '../elements/hook.ts';
import { listPage, positionIn, type Row, sequenceIn, stateLinks, urlWith } from '../elements/list.ts';
import { empty, faint, literal, literals, type Markup, time, userText } from '../elements/text.ts';
import { addWorkspaceAction, addWorkspacePage, type PageCall, queryOf, type Site } from '../frame/page.ts';
import { requestedHook, requestedHookPage } from './hooks.ts';

const route = { path: '/hooks/:hook', access: 'hooks:write' } as const;
const pageSize = 50;

export function addHookPages(site: Site): void {
  const { storage } = site;

  addWorkspacePage(site, { ...route, isCharged: true }, async (call) => {
    const { hook, overview, page } = await requestedHookPage(call, storage);
    const query = queryOf(call, 'state', 'before');
    const only = deliveryFilters.find((filter) => filter === query.state);
    const before = positionIn(query.before, sequenceIn);
    const withAudit = grants(call.bearer.scopes, 'admin');
    const { deliveries, next } = await listDeliveries(storage, hook, { limit: pageSize, only, before, withAudit });
    const main = html`
      ${overview.inactive_why === null ? '' : html`<p class="warning">${inactiveTexts[overview.inactive_why]}</p>`}
      ${droppedEvents(call, overview)}
      ${facts(call, overview)}
      <div class="heading">
        <h2 id="deliveries">Deliveries</h2>
        <div class="actions"><a class="button" href="${urlWith(page, { state: only })}">Refresh</a></div>
      </div>
      ${stateLinks('Deliveries', page, only, filters)}
      ${listPage({
        rows: deliveries.map((delivery) => row(call, page, delivery)),
        kind: 'deliveries',
        isLater: before !== undefined,
        next: next?.toString(),
        urlOf: (before) => urlWith(page, { state: only, before }),
        none: noDeliveries(page, only, withAudit),
      })}`;
    return { title: `Webhook to ${new URL(hook.url).host}`, actions: actions(page, overview), main };
  });

  for (const [action, run] of Object.entries({ pause: pauseHook, resume: resumeHook, test: sendTest })) {
    addWorkspaceAction(site, { ...route, path: `${route.path}/${action}` }, async (call) => {
      const workspace = call.workspace.id;
      const hook = await requestedHook(call, storage);
      const change = { workspace, id: hook.id, actor: actorOf(call.c) };
      const notice = await storage.commit({ workspace }, (db) => run(db, storage.now, change));
      return { to: hookUrl(workspace, hook.id), notice };
    });
  }

  const removal = { ...route, path: `${route.path}/remove` } as const;

  addWorkspacePage(site, removal, async (call) => {
    const { hook, overview, page } = await requestedHookPage(call, storage);
    const main = html`
      <p>The webhook to ${literal(redactedUrl(hook))} receives nothing more, and its list of deliveries is removed. Registering it again
        creates a new one with a new secret.</p>
      ${pendingWarning(overview.pending_deliveries)}
      ${postForm({ action: `${page}/remove`, kind: 'danger', button: 'Remove webhook', cancel: buttonLink(page, 'Cancel') })}`;
    return { title: 'Remove this webhook?', main };
  });

  addWorkspaceAction(site, removal, async (call) => {
    const workspace = call.workspace.id;
    const hook = await requestedHook(call, storage);
    const change = { workspace, id: hook.id, actor: actorOf(call.c) };
    if (!(await storage.commit({ workspace }, (db) => removeHook(db, storage.now, change)))) throw noSuchHook();
    return { to: `/workspaces/${workspace}/hooks`, notice: 'hook-removed' };
  });
}

function actions(page: string, { inactive_why }: HookOverview): Markup {
  const act = (action: string, text: string, kind: string) =>
    html`<form method="post" action="${page}/${action}"><button${kind === '' ? '' : html` class="${kind}"`}>${text}</button></form>`;
  return html`${inactive_why === null ? act('test', 'Send a test', '') : ''}
    <a class="button" href="${page}/edit">Edit</a>
    ${inactive_why === null ? act('pause', 'Pause', '') : act('resume', 'Resume', 'primary')}
    <a class="button danger" href="${page}/remove">Remove…</a>`;
}

function droppedEvents({ now }: PageCall, { dropped_events: dropped }: HookOverview): Markup | string {
  if (dropped === null) return '';
  return html`<p class="${dropped.is_full ? 'warning' : 'hint'}">${droppedText(dropped)} The first was dropped
    ${time(dropped.since, now)}, the last ${time(dropped.last, now)}. They will not be delivered.</p>`;
}

/** Effect of a test at receivers that do more than show a message. */
const testEffects: Partial<Readonly<Record<HookFormat, string>>> = {
  github: 'It starts the workflows that run on such an event.',
  buildkite: 'It starts a build.',
};

function facts({ now }: PageCall, hook: HookOverview): Markup {
  const { pending_deliveries: waiting, failed_deliveries: failed } = hook;
  return html`<dl class="facts">
    <dt>URL</dt><dd>${literal(redactedUrl(hook))}</dd>
    <dt>State</dt><dd>${hookState(hook, now)}</dd>
    <dt>Events</dt><dd>${literals(hook.events)}</dd>
    <dt>Branches</dt><dd>${branchList(hook)}</dd>
    <dt>Format</dt><dd>${formatNames[hook.format]}</dd>
    <dt>Extra headers</dt><dd>${hook.header_names.length === 0 ? faint('none') : html`${literals(hook.header_names)} <span class="faint">(values are not shown)</span>`}</dd>
    <dt>Registered</dt><dd>${time(hook.created_at, now)}${hook.updated_at === hook.created_at ? '' : html`, changed ${time(hook.updated_at, now)}`}</dd>
    <dt>Deliveries</dt><dd>${formatNumber(waiting)} pending, ${formatNumber(failed)} of the latest hundred failed</dd>
  </dl>
  <p class="hint">A test sends an example of <code>${hook.events[0]}</code> once, with <code>"test": true</code> in its data. ${testEffects[hook.format]}</p>`;
}

function noDeliveries(page: string, only: DeliveryFilter | undefined, withAudit: boolean): Markup {
  const hidden = withAudit ? '' : ' Only administrators see those of audit events.';
  const all = html`<a href="${page}">Show all deliveries</a>. Finished ones are removed after some time.${hidden}`;
  const first = `The next matching event appears here. Start a sync, or take and release a lock.${hidden}`;
  return only === undefined
    ? empty('Nothing has been delivered yet.', first)
    : empty('No delivery is in this state.', all);
}

const filters: readonly (readonly [DeliveryFilter | undefined, string])[] = [
  [undefined, 'All'],
  ['open', 'Pending'],
  ['failed', 'Failed'],
  ['delivered', 'Delivered'],
  ['dropped', 'Dropped'],
];

function row({ now }: PageCall, page: string, delivery: DeliveryOverview): Row {
  const { id, event, state, attempts, last_attempt, last_error } = delivery;
  const link = html`<a href="${page}/deliveries/${id}"><code>${event.type}</code> ${literal(subjectOf(event).name)}</a>`;
  return [
    ['Event', html`${link}${event.data.test ? html` ${faint('a test')}` : ''}`, 'head'],
    ['State', deliveryState(state)],
    ['Attempts', String(attempts), 'number'],
    ['Last attempt', last_attempt === null ? faint('none yet') : time(last_attempt.at, now)],
    ['Next attempt', nextAttempt(delivery, now)],
    ['Last error', last_error === null ? faint('none') : userText(last_error)],
  ];
}

const pendingWarning = (waiting: number): Markup | string =>
  waiting === 0
    ? ''
    : html`<p class="warning">${pluralize(waiting, 'delivery is waiting', 'deliveries are waiting')} and will never be sent.</p>`;
