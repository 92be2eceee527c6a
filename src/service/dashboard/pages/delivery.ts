import { html } from 'hono/html';
import { formatNumber } from '../../../interface/format.ts';
import { grants } from '../../../interface/scopes.ts';
import { actorOf } from '../../http/context.ts';
import type { HookEventOccurrence } from '../../outbox/event.ts';
import type { HookRow } from '../../outbox/hook-row.ts';
import { type DeliveryOverview, findDelivery } from '../../webhooks/delivery-list.ts';
import { type RedactedHeader, redactedRequest, redactedUrl } from '../../webhooks/delivery-request.ts';
import { requireAdminForAudit } from '../../webhooks/hooks.ts';
import type { ReceiverResponse } from '../../webhooks/receiver-response.ts';
import { maxAttempts } from '../../webhooks/retry-schedule.ts';
import { noSuchDelivery, sendAgain } from '../../webhooks/send-again.ts';
import { deliveryState, hookUrl, nextAttempt, subjectOf } from '../elements/hook.ts';
import { faint, literal, type Markup, time, userText, verbatim } from '../elements/text.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  type PageCall,
  type Site,
  type View,
  type WorkspaceCall,
} from '../frame/page.ts';
import { requestedDeliveryId, requestedHook } from './hooks.ts';

const route = { path: '/hooks/:hook/deliveries/:delivery', access: 'hooks:write' } as const;

export function addDeliveryPages(site: Site): void {
  const { storage } = site;

  async function requestedDelivery(call: WorkspaceCall) {
    const hook = await requestedHook(call, storage);
    const delivery = await findDelivery(storage, hook, requestedDeliveryId(call));
    if (delivery === undefined) throw noSuchDelivery();
    // Checked for the event, too: the webhook may have had it only in the past.
    requireAdminForAudit([delivery.event.type], call.bearer.scopes);
    return { hook, delivery };
  }

  async function show(call: WorkspaceCall, refused?: string): Promise<View> {
    const { hook, delivery } = await requestedDelivery(call);
    const hookPage = hookUrl(call.workspace.id, hook.id);
    const main = html`
      ${refused === undefined ? '' : html`<p class="warning" role="alert">It was not sent again. ${refused}</p>`}
      ${facts(call, hookPage, hook, delivery)}
      <h2>Request</h2>
      ${request(hook, delivery)}
      <h2>Last response</h2>
      ${responseSection(delivery)}`;
    return {
      title: `Delivery of ${delivery.event.type}`,
      actions: actions(`${hookPage}/deliveries/${delivery.id}`, delivery, hook),
      main,
      status: refused === undefined ? 200 : 409,
    };
  }

  addWorkspacePage(site, route, (call) => show(call));

  addWorkspaceAction(site, { ...route, path: `${route.path}/send-again` }, async (call) => {
    const workspace = call.workspace.id;
    const { hook, delivery } = await requestedDelivery(call);
    const asked = { workspace, id: hook.id, actor: actorOf(call.c) };
    const sent = await storage.commit({ workspace }, (db) => sendAgain(db, storage.now, asked, delivery.id));
    if (!sent.ok) return show(call, sent.reason);
    return { to: `${hookUrl(workspace, hook.id)}/deliveries/${delivery.id}`, notice: sent.value };
  });
}

function actions(page: string, delivery: DeliveryOverview, hook: HookRow): Markup {
  const problem = resendProblem(delivery, hook);
  const text = delivery.attempts === 0 ? 'Send now' : 'Send again';
  return html`${problem === undefined ? html`<form method="post" action="${page}/send-again"><button class="primary">${text}</button></form>` : faint(problem)}
    <a class="button" href="${page}">Refresh</a>`;
}

/** Reason why the delivery cannot be sent again now; undefined if it can. */
function resendProblem({ state, event }: DeliveryOverview, { active }: HookRow): string | undefined {
  if (active !== 1) return 'Resume the webhook to send it again.';
  if (state.kind === 'sending') return 'It is being sent now.';
  if (state.kind !== 'behind-another') return undefined;
  return `It waits for an earlier delivery for the same ${subjectOf(event).kind}.`;
}

const subjectTitles = { branch: 'Branch', path: 'Path', audit: 'Action' } as const;

function facts(call: PageCall, hookPage: string, hook: HookRow, delivery: DeliveryOverview): Markup {
  const { now } = call;
  const { event, state, last_attempt, last_error } = delivery;
  const { kind, name } = subjectOf(event);
  return html`<dl class="facts">
    <dt>State</dt><dd>${deliveryState(state)}${'at' in state ? html` ${time(state.at, now)}` : ''}</dd>
    <dt>Webhook</dt><dd><a href="${hookPage}">${literal(redactedUrl(hook))}</a></dd>
    <dt>Event</dt><dd><code>${event.type}</code> ${time(event.occurredAt, now)}</dd>
    <dt>${subjectTitles[kind]}</dt><dd>${literal(name)}</dd>
    ${syncLink(call, event)}
    <dt>Attempts</dt><dd>${attemptsMade(delivery)}</dd>
    <dt>Last attempt</dt><dd>${last_attempt === null ? faint('none') : time(last_attempt.at, now)}</dd>
    <dt>Next attempt</dt><dd>${nextAttempt(delivery, now)}</dd>
    <dt>Last error</dt><dd>${last_error === null ? faint('none') : userText(last_error)}</dd>
    <dt>Id</dt><dd>${literal(delivery.id)}</dd>
  </dl>`;
}

function syncLink({ bearer }: PageCall, { workspace, data }: HookEventOccurrence): Markup | string {
  if (!('sync' in data) || data.test || !grants(bearer.scopes, 'sync')) return '';
  return html`<dt>Sync</dt><dd><a href="/workspaces/${workspace}/syncs/${data.sync.sync_id}">${literal(data.sync.sync_id)}</a></dd>`;
}

function attemptsMade({ attempts, again, state }: DeliveryOverview): string {
  if (again && !('at' in state)) return `${attempts}, plus one sent again by hand`;
  return 'at' in state ? String(attempts) : `${attempts} of at most ${maxAttempts}`;
}

function request(hook: HookRow, { event }: DeliveryOverview): Markup {
  const shown = redactedRequest(hook, event);
  if (!shown.ok) return html`<p>There is none: ${shown.reason}</p>`;
  const { url, headers, body } = shown.value;
  return html`<p class="hint">With the current settings of the webhook. Earlier attempts may have been different.</p>
    <p>${literal(`POST ${url}`)}</p>
    ${headerLines(headers.map((header) => [header.name, headerValue(header)] as const))}
    ${verbatim(JSON.stringify(JSON.parse(body), null, 2))}
    <details><summary>The exact body</summary>${verbatim(body)}</details>`;
}

const hidden: Readonly<Record<Extract<RedactedHeader, { hidden: string }>['hidden'], string>> = {
  secret: 'not shown',
  'of-each-attempt': 'the time of the attempt',
};

const headerValue = (header: RedactedHeader): Markup =>
  'value' in header ? literal(header.value) : faint(hidden[header.hidden]);

type LastAttempt = NonNullable<DeliveryOverview['last_attempt']>;

function responseSection({ last_attempt: attempt, last_error: error }: DeliveryOverview): Markup {
  if (attempt === null) return html`<p class="faint">No attempt yet.</p>`;
  const { response } = attempt;
  if (response === null) return html`<p>No response${error === null ? '.' : html`: ${userText(error)}`}</p>`;
  switch (response.kept) {
    case 'status':
      return html`${statusLine(response, attempt)}
        <p class="hint">Only the status is kept: the receiver is in a private network that the operator allowed, and not everyone
          who can register webhooks may read its responses.</p>`;
    case 'whole':
      return html`${statusLine(response, attempt)}${completeResponse(response)}`;
  }
}

const statusLine = ({ status }: ReceiverResponse, { duration_ms }: LastAttempt): Markup =>
  html`<p>Status ${literal(String(status))}, after ${formatNumber(duration_ms)} ms.</p>`;

function completeResponse({ headers, body, bodyIsCut }: Extract<ReceiverResponse, { kept: 'whole' }>): Markup {
  const cut = bodyIsCut ? html`<p class="hint">Only the beginning of the response is stored.</p>` : '';
  return html`${headerLines(Object.entries(headers).map(([name, value]) => [name, literal(value)] as const))}
    ${body === '' ? html`<p class="faint">${bodyIsCut ? 'Its body was not kept.' : 'It had no body.'}</p>` : verbatim(body)}
    ${cut}`;
}

const headerLines = (headers: readonly (readonly [name: string, value: Markup])[]): Markup =>
  html`<dl class="facts">${headers.map(([name, value]) => html`<dt>${literal(name)}</dt><dd>${value}</dd>`)}</dl>`;
