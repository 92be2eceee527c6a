import { html } from 'hono/html';
import { formatNumber } from '../../../interface/format.ts';
import type { HookEvent, HookFormat } from '../../../interface/resources.ts';
import type { Hook } from '../../contract/schemas.ts';
import { type HookEventOccurrence, isSyncEvent } from '../../outbox/event.ts';
import type { DeliveryOverview } from '../../webhooks/delivery-list.ts';
import type { HookOverview } from '../../webhooks/hook-overview.ts';
import type { InactiveReason } from '../../webhooks/hooks.ts';
import { faint, literals, type Markup, time } from './text.ts';

export const hookUrl = (workspace: string, id: string): string => `/workspaces/${workspace}/hooks/${id}`;

export const eventMeanings: Readonly<Record<HookEvent, string>> = {
  'sync.succeeded': 'A sync brought a branch up to date.',
  'sync.failed': 'A sync ended with an error.',
  'lock.acquired': 'Someone took a lock.',
  'lock.released': 'A lock was released, by its holder or by force.',
  'lock.expired': 'A lock expired without being released.',
  'lock.requested': 'Someone began to wait for a lock that someone else holds.',
  'audit.recorded': 'An action in this workspace was added to the audit log. Administrators only.',
};

export const formatNames: Readonly<Record<HookFormat, string>> = {
  standard: 'Standard Webhooks',
  github: 'GitHub',
  buildkite: 'Buildkite',
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
};

export const branchList = ({ branches, events }: Pick<Hook, 'branches' | 'events'>): Markup => {
  if (!events.some(isSyncEvent)) return faint('none (locks only)');
  return branches === null ? html`all` : literals(branches);
};

const hookStates: Readonly<Record<InactiveReason | 'active', string>> = {
  active: 'active',
  paused: 'paused',
  gone: 'ended by the receiver',
};

export function hookState({ inactive_why: reason, failing_since: since }: HookOverview, now: number): Markup {
  if (reason === null && since !== null) {
    return html`<span class="state failing">failing</span> <span class="nowrap">since ${time(since, now)}</span>`;
  }
  const state = reason ?? 'active';
  return html`<span class="state ${state}">${hookStates[state]}</span>`;
}

export const inactiveTexts: Readonly<Record<InactiveReason, string>> = {
  paused: 'New events are not queued for it, and waiting deliveries are held until it is resumed.',
  gone: 'The receiver responded with 410 (Gone), so waiting deliveries were dropped. Resume the webhook when the receiver wants deliveries again, or remove it.',
};

export function droppedText({ count, is_full }: NonNullable<HookOverview['dropped_events']>): string {
  const events = count === 1 ? 'One event was' : `${formatNumber(count)} events were`;
  return `${events} dropped: its queue ${is_full ? 'is' : 'was'} full.`;
}

/** The word for a state, and the CSS class for its color. */
const deliveryStates: Readonly<Record<DeliveryOverview['state']['kind'], readonly [word: string, color: string]>> = {
  delivered: ['delivered', 'delivered'],
  failed: ['failed', 'failed'],
  dropped: ['dropped', 'dropped'],
  sending: ['sending', 'running'],
  waiting: ['pending', 'pending'],
  'behind-another': ['pending', 'queued'],
  held: ['held', 'paused'],
};

export function deliveryState({ kind }: DeliveryOverview['state']): Markup {
  const [word, color] = deliveryStates[kind];
  return html`<span class="state ${color}">${word}</span>`;
}

export function nextAttempt({ state, event }: DeliveryOverview, now: number): Markup | string {
  switch (state.kind) {
    case 'delivered':
    case 'failed':
    case 'dropped':
      return faint('none');
    case 'sending':
      return 'in progress';
    case 'waiting':
      return Date.parse(state.until) > now ? time(state.until, now) : 'as soon as possible';
    case 'behind-another':
      return `after an earlier one for the same ${subjectOf(event).kind}`;
    case 'held':
      return 'when the webhook is resumed';
  }
}

export function subjectOf({ data }: HookEventOccurrence): {
  readonly kind: 'branch' | 'path' | 'audit';
  readonly name: string;
} {
  if ('sync' in data) return { kind: 'branch', name: data.sync.branch };
  return 'lock' in data ? { kind: 'path', name: data.lock.path } : { kind: 'audit', name: data.entry.action };
}
