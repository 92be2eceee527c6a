import { html } from 'hono/html';
import type { Markup } from './markup.ts';
import { safeLines } from './text.ts';

/** Text of several lines from elsewhere: only the ends of its lines and its tabs do what they do. */
export const verbatim = (text: string): Markup => html`<pre>${text.split('\t').map(safeLines).join('\t')}</pre>`;
