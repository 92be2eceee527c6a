import { html } from 'hono/html';
import type { Timestamp } from '../../../interface/resources.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { fullTime, relativeTime } from '../assets/time.js';

/** HTML with all inserted values escaped. Only the tag `html` creates it. */
export type Markup = ReturnType<typeof html>;

/** Text from a user, isolated so that it cannot reorder or hide the surrounding text. */
export const userText = (text: string): Markup => html`<bdi>${safeText(text)}</bdi>`;

export const literals = (texts: readonly string[]): Markup =>
  html`${texts.map((text, index) => html`${index === 0 ? '' : ', '}${literal(text)}`)}`;

/** For a missing value: `none`, `not yet`. */
export const faint = (text: string): Markup => html`<span class="faint">${text}</span>`;

export const empty = (what: string, next: Markup | string): Markup =>
  html`<div class="notice"><p><strong>${what}</strong></p><p>${next}</p></div>`;

/** An exact time in UTC. The page converts it to the reader's time zone. */
export const pointInTime = (timestamp: Timestamp): Markup =>
  html`<time datetime="${timestamp}" data-point>${fullTime(timestamp)}</time>`;

/** The time of the page. With scripts, it also shows whether the page still updates. */
export const liveState = (now: number, more: Markup | string = ''): Markup =>
  html`<p class="live">${more} <span class="faint" id="live" role="status">As of ${pointInTime(asTimestamp(now))}. <a href="">Refresh</a></span></p>`;

/** For pages with notices for the viewer, even in another window. */
export const notifyButton = html`<button type="button" data-notifies hidden>Notify me</button>`;

/** A relative time, with the full time on hover. The page keeps it up to date. */
export const time = (timestamp: Timestamp, now: number): Markup =>
  html`<time datetime="${timestamp}" title="${fullTime(timestamp)}">${relativeTime(Date.parse(timestamp), now)}</time>`;

/** A path, branch or id, in a monospaced font for exact comparison. */
export const literal = (text: string): Markup => html`<code><bdi>${safeText(text)}</bdi></code>`;

/** Like safeText(), but keeps line breaks. */
export const safeLines = (text: string): string => text.split(/\r?\n/).map(safeText).join('\n');

/** A cell below its heading, with CSS classes for both. The kind `head` names the row. */
type Cell = readonly [heading: string, content: Markup | string, kind?: string];

/** An empty string stands for an omitted column. */
export type Row = readonly (Cell | '')[];

/** A table with at least one row. On narrow screens, its rows are cards. */
export function htmlTable(rows: readonly Row[]): Markup {
  const headings = cellsOf(rows[0] ?? []);
  return html`<table>
    <thead><tr>${headings.map(([heading, , kind]) => html`<th scope="col"${classOf(kind)}>${heading}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cellsOf(row).map(tableCell)}</tr>`)}</tbody>
  </table>`;
}

/** A URL path with the non-empty parameters. */
export function urlWith(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value);
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

export const link = (href: string, text: string): Markup => html`<a href="${href}">${text}</a>`;

/** Links between the pages of a list. An undefined URL omits its link: on the first page, or on the last one. */
export const pageLinks = (first: string | undefined, next: string | undefined): Markup | string =>
  first === undefined && next === undefined
    ? ''
    : html`<nav class="row" aria-label="Pages">${first === undefined ? '' : link(first, 'First page')}${
        next === undefined ? '' : html`<a href="${next}" rel="next">Next page</a>`
      }</nav>`;

const cellsOf = (row: Row): readonly Cell[] => row.filter((cell) => cell !== '');

const tableCell = ([heading, content, kind]: Cell): Markup =>
  kind === 'head'
    ? html`<th scope="row">${content}</th>`
    : html`<td${classOf(kind)} data-label="${heading}">${content}</td>`;

const classOf = (kind: string | undefined): Markup | string =>
  kind === undefined || kind === 'head' ? '' : html` class="${kind}"`;
