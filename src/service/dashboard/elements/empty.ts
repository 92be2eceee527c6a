import { html } from 'hono/html';
import type { Markup } from './markup.ts';

/** Where there is nothing to show: that it is so, and what to do next. */
export const empty = (what: string, next: Markup | string): Markup =>
  html`<div class="empty"><p><strong>${what}</strong></p><p>${next}</p></div>`;
