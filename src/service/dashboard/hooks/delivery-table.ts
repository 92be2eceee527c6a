import { html } from 'hono/html';
import type { DeliveryFilter, DeliveryOverview } from '../../webhooks/delivery-list.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import type { PageCall } from '../page.ts';
import { deliveryState, nextAttempt, subjectOf } from './words.ts';

const filters: readonly (readonly [filter: DeliveryFilter | undefined, text: string])[] = [
  [undefined, 'All'],
  ['open', 'Not over'],
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
    <td data-label="Last attempt">${last_attempt === null ? html`<span class="faint">none yet</span>` : time(last_attempt.at, now)}</td>
    <td data-label="Next attempt">${nextAttempt(delivery, now)}</td>
    <td data-label="Last error">${last_error === null ? html`<span class="faint">none</span>` : given(last_error)}</td>
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
