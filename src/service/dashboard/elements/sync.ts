import { html } from 'hono/html';
import type { Sync } from '../../../interface/resources.ts';
import { type Markup, safeLines } from './text.ts';

/** Enough to tell commits apart; the whole hash is shown on hover. */
const shown = 10;

export const commit = (head: string): Markup => html`<code title="${head}">${head.slice(0, shown)}</code>`;

/** How long a sync ran, without the time in the queue; undefined until it has ended. */
export function runTime({ started_at, finished_at }: Sync): number | undefined {
  if (started_at === null || finished_at === null) return undefined;
  return Date.parse(finished_at) - Date.parse(started_at);
}

/** Longer errors would push everything else out of sight. */
const maxOpenLength = 160;
const beginning = 100;

/** Why a sync failed; a long error is folded behind its beginning. */
export function syncError(error: string): Markup {
  const text = safeLines(error);
  const [firstLine = ''] = text.split('\n');
  if (text.length <= maxOpenLength && firstLine === text) return html`<p class="problem"><bdi>${text}</bdi></p>`;
  return html`<details class="problem"><summary><bdi>${firstLine.slice(0, beginning)}…</bdi></summary><pre>${text}</pre></details>`;
}
