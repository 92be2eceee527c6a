import { html } from 'hono/html';
import { safeText } from '../../safe-text.ts';
import type { Markup } from './markup.ts';

/** Text of several lines from elsewhere: only its line breaks and tabs do what they do. */
export const verbatim = (text: string): Markup =>
  html`<pre>${text
    .split(/([\n\t])/)
    .map((part, index) => (index % 2 === 1 ? part : safeText(part)))
    .join('')}</pre>`;
