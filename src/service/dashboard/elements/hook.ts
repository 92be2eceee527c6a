import { html } from 'hono/html';
import type { Hook, HookEvent, HookFormat } from '../../../interface/resources.ts';
import type { DeliveryOverview, DeliveryState } from '../../webhooks/delivery-list.ts';
import { type HookEventOccurrence, isSyncEvent } from '../../webhooks/event.ts';
import type { HookOverview } from '../../webhooks/hook-overview.ts';
import type { InactiveWhy } from '../../webhooks/hooks.ts';
import { faint, literals, type Markup } from './text.ts';
import { time } from './time.ts';

/** When each event happens. */
export const eventMeanings: Readonly<Record<HookEvent, string>> = {
  'sync.succeeded': 'A sync has brought a branch up to date.',
  'sync.failed': 'A sync has ended with an error.',
  'lock.acquired': 'Somebody has taken a lock.',
  'lock.released': 'A lock was released, by who held it or by force.',
  'lock.expired': 'A lock has reached the end of its time without being released.',
};

export const formatNames: Readonly<Record<HookFormat, string>> = {
  standard: 'Standard Webhooks',
  github: 'GitHub',
  buildkite: 'Buildkite',
};

export const shownBranches = ({ branches, events }: Pick<Hook, 'branches' | 'events'>): Markup => {
  if (!events.some(isSyncEvent)) return faint('none: only locks');
  return branches === null ? html`all` : literals(branches);
};

const hookStates: Readonly<Record<InactiveWhy | 'active', string>> = {
  active: 'active',
  paused: 'paused',
  gone: 'ended by the receiver',
};

export function hookState(why: InactiveWhy | null): Markup {
  const state = why ?? 'active';
  return html`<span class="state ${state}">${hookStates[state]}</span>`;
}

const eventsWere = (count: number): string =>
  count === 1 ? 'One event was' : `${count.toLocaleString('en-US')} events were`;

/** What was lost of what the hook asks for, and whether that goes on. */
export function droppedEvents({ dropped_events: dropped }: HookOverview, now: number): Markup | string {
  if (dropped === null) return '';
  const what = html`${eventsWere(dropped.count)} dropped for it, the first ${time(dropped.since, now)} and the last
    ${time(dropped.last, now)}, because as many deliveries waited as may.`;
  return dropped.is_full
    ? html`<p class="warning">${what} They still do: events are put down again when the receiver takes what waits.</p>`
    : html`<p class="hint">${what} They are not delivered later.</p>`;
}

export const droppedInShort = ({ dropped_events: dropped }: HookOverview): Markup | string =>
  dropped === null
    ? ''
    : html`<p class="hint">${eventsWere(dropped.count)} dropped: as many deliveries ${dropped.is_full ? 'wait' : 'waited'} as may.</p>`;

/** What an event is about, and what that is. */
export const subjectOf = (event: HookEventOccurrence): { readonly kind: 'branch' | 'path'; readonly name: string } =>
  'sync' in event.data
    ? { kind: 'branch', name: event.data.sync.branch }
    : { kind: 'path', name: event.data.lock.path };

/** The word for a state, and the class of its colour. */
const deliveryStates: Readonly<Record<DeliveryState['kind'], readonly [word: string, colour: string]>> = {
  delivered: ['delivered', 'delivered'],
  failed: ['failed', 'failed'],
  dropped: ['dropped', 'dropped'],
  'under-way': ['under way', 'running'],
  waiting: ['waiting', 'pending'],
  'behind-another': ['waiting', 'queued'],
  held: ['held', 'paused'],
};

export function deliveryState({ kind }: DeliveryState): Markup {
  const [word, colour] = deliveryStates[kind];
  return html`<span class="state ${colour}">${word}</span>`;
}

export function nextAttempt({ state, event }: DeliveryOverview, now: number): Markup | string {
  switch (state.kind) {
    case 'delivered':
    case 'failed':
    case 'dropped':
      return faint('none');
    case 'under-way':
      return 'being made now';
    case 'waiting':
      return Date.parse(state.until) > now ? time(state.until, now) : 'as soon as its turn comes';
    case 'behind-another':
      return `when an earlier one about the same ${subjectOf(event).kind} is over`;
    case 'held':
      return 'when the webhook is resumed';
  }
}

/** What an action has done, by the word that it puts into the address of the next page. */
const notices = {
  registered: 'The webhook is registered. It signs with the secret that you gave.',
  replaced:
    'This address was registered already. The webhook now has what you just gave: events, branches, format and headers. It is active. Its secret is the old one, unless you gave another.',
  'registered-before': 'The form was sent again, and nothing was done: it was taken the first time.',
  'being-registered': 'The form was sent twice, and the first one is not done yet. Load this page again in a moment.',
  paused: 'The webhook is paused. Events that happen from now on are not put down for it.',
  'paused-already': 'Nothing was changed: the webhook was paused already.',
  'gone-already': 'Nothing was changed: the receiver has ended the webhook with 410, so there is nothing to pause.',
  resumed: 'The webhook is active again. What waited for it is on its way.',
  'resumed-gone':
    'The webhook is active again. If its receiver answers 410 once more, that ends it again. What was dropped can be sent again, one by one.',
  'active-already': 'Nothing was changed: the webhook was active already.',
  removed: 'The webhook is removed, and what waited for it as well.',
  'sent-again': 'It is sent again at once.',
  'sent-after-another': 'It is sent again as soon as an earlier one about the same is over.',
} as const;

export type Notice = keyof typeof notices;

const isNotice = (text: string): text is Notice => Object.hasOwn(notices, text);

export const noticeOf = (text: string): Markup | string =>
  isNotice(text) ? html`<p class="notice" role="status">${notices[text]}</p>` : '';
