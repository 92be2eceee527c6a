import { html } from 'hono/html';
import type { Markup } from './text.ts';

/** A visually hidden heading, for a column that contains only buttons or links. */
export const hiddenHeading = (heading: string): Markup => html`<span class="visually-hidden">${heading}</span>`;

/** A cell below its heading, with CSS classes for both. The kind `head` names the row. */
type Cell = readonly [heading: Markup | string, content: Markup | string, kind?: string];

/** Empty texts stand for columns that are omitted. */
export type Row = readonly (Cell | '')[];

/** A table with at least one row. On narrow screens, its rows are cards. */
export function htmlTable(rows: readonly Row[]): Markup {
  const headings = cellsOf(rows[0] ?? []);
  return html`<table>
    <thead><tr>${headings.map(([heading, , kind]) => html`<th scope="col"${classOf(kind)}>${heading}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cellsOf(row).map(tableCell)}</tr>`)}</tbody>
  </table>`;
}

/** A table with its heading; empty without rows. */
export const section = (title: string, rows: readonly Row[]): Markup | string =>
  rows.length === 0 ? '' : html`<section><h2>${title}</h2>${htmlTable(rows)}</section>`;

/** A URL path with the non-empty parameters. */
export function urlWith(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value);
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

interface NavigationLink {
  readonly href: string;
  readonly text: Markup | string;
  readonly current: boolean;
}

export const navigationLinks = (links: readonly NavigationLink[]): Markup =>
  html`<ul>${links.map(
    ({ href, text, current }) =>
      html`<li><a href="${href}"${current ? html` aria-current="page"` : ''}>${text}</a></li>`,
  )}</ul>`;

export const link = (href: string, text: string): Markup => html`<a href="${href}">${text}</a>`;

/** Links between the pages of a list. Undefined URLs are those of the first and after the last page. */
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
    : html`<td${classOf(kind)}${typeof heading === 'string' ? html` data-label="${heading}"` : ''}>${content}</td>`;

const classOf = (kind: string | undefined): Markup | string =>
  kind === undefined || kind === 'head' ? '' : html` class="${kind}"`;
