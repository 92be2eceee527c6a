import { html } from 'hono/html';
import type { Markup } from './markup.ts';

/** A text to take along, and a button for it, which page.js shows where it works. Wants `copied.css`. */
export const copied = (id: string, what: string, text: Markup): Markup =>
  html`<div class="copied">${text}<button type="button" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${what}</span></button></div>`;
