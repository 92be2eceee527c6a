import { html } from 'hono/html';
import type { Markup } from '../elements/markup.ts';

/** Enough to tell commits of a repository apart; all of it on hover. */
const shown = 10;

export const commit = (head: string): Markup => html`<code title="${head}">${head.slice(0, shown)}</code>`;
