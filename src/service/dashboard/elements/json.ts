import { html } from 'hono/html';
import { safeText } from '../../safe-text.ts';
import type { Markup } from './markup.ts';

/** A value as JSON, member by member. */
export const json = (value: unknown): Markup =>
  html`<pre>${JSON.stringify(value, null, 2).split('\n').map(safeText).join('\n')}</pre>`;
