import { html } from 'hono/html';
import { invalid } from '../../contract/problem.ts';
import { empty, type Markup } from './text.ts';

/** A visually hidden heading, for a column that contains only buttons or links. */
export const hiddenHeading = (heading: string): Markup => html`<span class="visually-hidden">${heading}</span>`;

/** A cell below its heading, with CSS classes for both. The kind `head` names the row. */
type Cell = readonly [heading: Markup | string, content: Markup | string, kind?: string];

/** Empty texts stand for columns that are omitted. */
export type Row = readonly (Cell | '')[];

/** A table with at least one row. On narrow screens, its rows are cards. */
export function htmlTable(rows: readonly Row[], kind = ''): Markup {
  const headings = cellsOf(rows[0] ?? []);
  return html`<table class="cards ${kind}">
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

/** Start position of a page of a list, from the query. `parse` returns undefined for an invalid one. */
export function positionIn<Position>(
  text: string,
  parse: (text: string) => Position | undefined,
): Position | undefined {
  if (text === '') return undefined;
  const position = parse(text);
  if (position !== undefined) return position;
  throw invalid({ pointer: '#/before', detail: 'Unknown page. Remove `before` from the URL.' });
}

export const link = (href: string, text: string, rel?: 'prev' | 'next'): Markup =>
  html`<a href="${href}"${rel === undefined ? '' : html` rel="${rel}"`}>${text}</a>`;

interface ListPage {
  readonly rows: readonly Row[];
  readonly kind?: string;
  /** False on the first page. */
  readonly isLater: boolean;
  /** Start position of the next page; undefined on the last one. */
  readonly next: string | undefined;
  readonly urlOf: (before?: string) => string;
  /** Replaces an empty list. */
  readonly none: Markup;
}

/** A page of a list, newest first, with links to the newest and to older entries. */
export function listPage({ rows, kind, isLater, next, urlOf, none }: ListPage): Markup {
  const newest = isLater ? link(urlOf(), 'Newest') : '';
  const older = next === undefined ? '' : link(urlOf(next), 'Older', 'next');
  if (rows.length > 0) return html`${htmlTable(rows, kind)}${pageLinks(newest, older)}`;
  if (older !== '') return html`${empty('No entry matches in this part.', older)}${pageLinks(newest)}`;
  return isLater ? empty('There are no older entries.', newest) : none;
}

export const pageLinks = (...links: readonly (Markup | string)[]): Markup | string =>
  links.every((each) => each === '') ? '' : html`<nav class="pages" aria-label="Pages">${links}</nav>`;

const cellsOf = (row: Row): readonly Cell[] => row.filter((cell) => cell !== '');

const tableCell = ([heading, content, kind]: Cell): Markup =>
  kind === 'head'
    ? html`<th scope="row">${content}</th>`
    : html`<td${classOf(kind)}${typeof heading === 'string' ? html` data-label="${heading}"` : ''}>${content}</td>`;

const classOf = (kind: string | undefined): Markup | string =>
  kind === undefined || kind === 'head' ? '' : html` class="${kind}"`;
