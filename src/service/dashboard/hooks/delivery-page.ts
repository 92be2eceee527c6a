import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import { type App, actorOf } from '../../http/operation.ts';
import type { Answer } from '../../http/problem-answer.ts';
import { type DeliveryOverview, findDelivery } from '../../webhooks/delivery-list.ts';
import type { HookEventOccurrence } from '../../webhooks/event.ts';
import type { HookRow } from '../../webhooks/hooks.ts';
import { maxAttempts } from '../../webhooks/retry-schedule.ts';
import { sendAgain } from '../../webhooks/send-again.ts';
import { shownRequest, shownUrl } from '../../webhooks/shown-request.ts';
import { seeOther } from '../answer.ts';
import type { DashboardParts } from '../dashboard.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { formField, showPage } from '../layout.ts';
import { addAction, addPage, type PageCall, queryOf } from '../page.ts';
import { addressedDeliveryId, addressedHook, noSuchDelivery } from './addressed-hook.ts';
import { answerSection, requestSection } from './exchange.ts';
import { noticeOf } from './notices.ts';
import { deliveryState, nextAttempt, subjectOf } from './words.ts';

const path = '/workspaces/:id/hooks/:hook/deliveries/:delivery';
const access = 'hooks:write';

/** Why a button would only be refused; undefined where it would not. */
function whyNotAgain({ state, event }: DeliveryOverview, { active }: HookRow): string | undefined {
  if (active !== 1) return 'It can be sent again when the webhook is resumed.';
  switch (state.kind) {
    case 'under-way':
      return 'An attempt is being made now.';
    case 'behind-another':
      return `It waits for an earlier one about the same ${subjectOf(event).kind}, and follows when that is over.`;
    default:
      return undefined;
  }
}

function actions(call: PageCall, page: string, delivery: DeliveryOverview, hook: HookRow): Markup {
  const whyNot = whyNotAgain(delivery, hook);
  const text = delivery.attempts === 0 ? 'Send now' : 'Send again';
  return html`<div class="actions">
    ${whyNot === undefined ? html`<form method="post" action="${page}/send-again">${formField(call)}<button class="primary">${text}</button></form>` : html`<span class="faint">${whyNot}</span>`}
    <a href="${page}">Look again</a>
  </div>`;
}

function attemptsMade({ attempts, again, state }: DeliveryOverview): string {
  if (again && !('at' in state)) return `${attempts}, and one more since somebody had it sent again`;
  return 'at' in state ? String(attempts) : `${attempts} of at most ${maxAttempts}`;
}

/** Where more is told of what it is about. */
function syncLink({ bearer }: PageCall, { workspace, data }: HookEventOccurrence): Markup | string {
  if (!('sync' in data) || !grants(bearer.scopes, 'sync')) return '';
  return html`<dt>Sync</dt><dd><a href="/workspaces/${workspace}/syncs/${data.sync.sync_id}">${literal(data.sync.sync_id)}</a></dd>`;
}

function facts(call: PageCall, hookPage: string, hook: HookRow, delivery: DeliveryOverview): Markup {
  const { now } = call;
  const { event, state, last_attempt, last_error } = delivery;
  const { kind, name } = subjectOf(event);
  return html`<dl class="facts">
    <dt>State</dt><dd>${deliveryState(state)}${'at' in state ? html` ${time(state.at, now)}` : ''}</dd>
    <dt>Webhook</dt><dd><a href="${hookPage}">${literal(shownUrl(hook.url))}</a></dd>
    <dt>Event</dt><dd><code>${event.type}</code> ${time(event.occurredAt, now)}</dd>
    <dt>${kind === 'branch' ? 'Branch' : 'Path'}</dt><dd>${literal(name)}</dd>
    ${syncLink(call, event)}
    <dt>Attempts</dt><dd>${attemptsMade(delivery)}</dd>
    <dt>Last attempt</dt><dd>${last_attempt === null ? html`<span class="faint">none</span>` : time(last_attempt.at, now)}</dd>
    <dt>Next attempt</dt><dd>${nextAttempt(delivery, now)}</dd>
    <dt>Last error</dt><dd>${last_error === null ? html`<span class="faint">none</span>` : given(last_error)}</dd>
    <dt>Id</dt><dd>${literal(delivery.id)}</dd>
  </dl>`;
}

function request(hook: HookRow, { event }: DeliveryOverview): Markup {
  const shown = shownRequest(hook, event);
  if (!shown.ok) return html`<p>There is none: ${shown.why}</p>`;
  return html`<p class="hint">As the webhook is registered now. An attempt from before it was registered again may have looked otherwise.</p>
    ${requestSection(shown.value)}`;
}

export function addDeliveryPages(app: App, parts: DashboardParts): void {
  const { storage, onLockEvent } = parts;

  async function show(call: PageCall, refused?: string): Promise<Answer> {
    const { workspace, hook } = await addressedHook(call, storage);
    const delivery = await findDelivery(storage, hook, addressedDeliveryId(call));
    if (delivery === undefined) throw noSuchDelivery();
    const { event, last_attempt, attempts, last_error } = delivery;
    const hookPage = `/workspaces/${workspace}/hooks/${hook.id}`;
    const main = html`
      ${refused === undefined ? noticeOf(queryOf(call, 'notice').notice) : html`<p class="warning" role="alert">It was not sent again. ${refused}</p>`}
      ${actions(call, `${hookPage}/deliveries/${delivery.id}`, delivery, hook)}
      ${facts(call, hookPage, hook, delivery)}
      <h2>Request</h2>
      ${request(hook, delivery)}
      <h2>Answer to the last attempt</h2>
      ${answerSection(last_attempt, attempts, last_error)}`;
    const view = {
      title: `Delivery of ${event.type}`,
      place: { section: 'workspaces', workspace, tab: 'hooks' },
      main,
      styles: ['hooks.css'],
    } as const;
    return showPage(call, view, refused === undefined ? 200 : 409);
  }

  addPage(app, parts, { path, access }, (call) => show(call));

  addAction(app, parts, { path: `${path}/send-again`, access }, async (call) => {
    const { workspace, hook } = await addressedHook(call, storage);
    const delivery = addressedDeliveryId(call);
    const asked = { workspace, hook: hook.id, delivery, actor: actorOf(call.c) };
    const sent = await storage.commit({ workspace }, (db) => sendAgain(db, storage.now, asked));
    switch (sent.kind) {
      case 'absent':
        throw noSuchDelivery();
      case 'refused':
        return show(call, sent.why);
      case 'sent-again': {
        onLockEvent();
        const notice = sent.due === 'at-once' ? 'sent-again' : 'sent-after-another';
        return seeOther(`/workspaces/${workspace}/hooks/${hook.id}/deliveries/${delivery}?notice=${notice}`);
      }
    }
  });
}
