import { html } from 'hono/html';
import { formatNumber } from '../../../interface/format.ts';
import type { HookFormat } from '../../../interface/resources.ts';
import type { Hook } from '../../contract/schemas.ts';
import { isSyncEvent } from '../../outbox/event.ts';
import type { HookOverview } from '../../webhooks/hooks.ts';
import { faint, literals, type Markup, time } from './text.ts';

export const formatNames: Readonly<Record<HookFormat, string>> = {
  standard: 'Standard Webhooks',
  github: 'GitHub',
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
};

export const branchList = ({ branches, events }: Pick<Hook, 'branches' | 'events'>): Markup => {
  if (!events.some(isSyncEvent)) return faint('none (locks only)');
  return branches === null ? html`all` : literals(branches);
};

export function hookState({ active, failing_since: since }: HookOverview, now: number): Markup {
  if (!active) return html`<span class="state gone">ended by the receiver</span>`;
  return since === null
    ? html`<span class="state active">active</span>`
    : html`<span class="state failing">failing</span> <span class="nowrap">since ${time(since, now)}</span>`;
}

export const goneText =
  'The receiver responded with 410 (Gone), so waiting deliveries were dropped. Register the webhook again when the receiver wants deliveries again, or remove it.';

export const droppedText = (count: number): string =>
  `${count === 1 ? 'One event was' : `${formatNumber(count)} events were`} dropped, because its queue was full.`;
