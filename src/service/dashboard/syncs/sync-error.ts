import { html } from 'hono/html';
import type { Markup } from '../elements/markup.ts';
import { safeLines } from '../elements/text.ts';

/** Longer ones would push everything else out of sight. */
const longestOpen = 160;
const beginning = 100;

/** Why a sync failed, all of it: behind its beginning when it is long. */
export function syncError(error: string): Markup {
  const text = safeLines(error);
  const [firstLine = ''] = text.split('\n');
  if (text.length <= longestOpen && firstLine === text) return html`<p class="problem"><bdi>${text}</bdi></p>`;
  return html`<details class="problem"><summary><bdi>${firstLine.slice(0, beginning)}…</bdi></summary><pre>${text}</pre></details>`;
}
