import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { safeText } from '../assets/text.js';

/** HTML in which everything that came from elsewhere is escaped. Only the tag `html` makes it. */
export type Markup = ReturnType<typeof html> | HtmlEscapedString;

/** Text of a user, which neither reorders nor hides what stands around it. */
export const userText = (text: string): Markup => html`<bdi>${safeText(text)}</bdi>`;

/** A path, a branch, an id: something that a person may have to compare letter by letter. */
export const literal = (text: string): Markup => html`<code><bdi>${safeText(text)}</bdi></code>`;

export const literals = (texts: readonly string[]): Markup =>
  html`${texts.map((text, index) => html`${index === 0 ? '' : ', '}${literal(text)}`)}`;

/** Like safeText(), but for the ends of lines, for where they are shown as such. */
export const safeLines = (text: string): string => text.split(/\r?\n/).map(safeText).join('\n');

/** Text of several lines from elsewhere: only the ends of its lines and its tabs do what they do. */
export const verbatim = (text: string): Markup => html`<pre>${text.split('\t').map(safeLines).join('\t')}</pre>`;

/** Where a fact is missing: `none`, `not yet`. */
export const faint = (text: string): Markup => html`<span class="faint">${text}</span>`;

/** Text to take along, and a button for it, which page.js shows where it works. */
export const copyable = (id: string, what: string, text: Markup): Markup =>
  html`<div class="copied">${text}<button type="button" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${what}</span></button></div>`;

/** Where there is nothing to show: that it is so, and what to do next. */
export const empty = (what: string, next: Markup | string): Markup =>
  html`<div class="empty"><p><strong>${what}</strong></p><p>${next}</p></div>`;

/** What an action has done. */
export const notice = (text: string | undefined): Markup | string =>
  text === undefined ? '' : html`<p class="notice" role="status">${text}</p>`;
