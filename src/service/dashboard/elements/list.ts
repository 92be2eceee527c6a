import { html } from 'hono/html';
import { invalid } from '../../contract/problem.ts';
import type { Markup } from './text.ts';

/** A visually hidden heading, for a column that contains only buttons or links. */
export const unseen = (heading: string): Markup => html`<span class="visually-hidden">${heading}</span>`;

/** A cell below its heading, with CSS classes for both. The kind `head` names the row. */
type Cell = readonly [heading: Markup | string, content: Markup | string, kind?: string];

/** Empty texts stand for columns that are omitted. */
export type Row = readonly (Cell | '')[];

/** A table with at least one row. On narrow screens, its rows are cards. */
export const htmlTable = (kind: string, rows: readonly Row[]): Markup => groupedTable(kind, [{ rows }]);

interface RowGroup {
  readonly title?: Markup;
  readonly rows: readonly Row[];
}

/** A table of groups, each below its title. */
export function groupedTable(kind: string, groups: readonly RowGroup[]): Markup {
  const headings = cellsOf(groups[0]?.rows[0] ?? []);
  return html`<table class="cards ${kind}">
    <thead><tr>${headings.map(([heading, , kind]) => html`<th scope="col"${classOf(kind)}>${heading}</th>`)}</tr></thead>
    ${groups.map(
      ({ title, rows }) =>
        html`<tbody>${
          title === undefined
            ? ''
            : html`<tr class="group"><th scope="rowgroup" colspan="${headings.length}">${title}</th></tr>`
        }${rows.map((row) => html`<tr>${cellsOf(row).map(tableCell)}</tr>`)}</tbody>`,
    )}
  </table>`;
}

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

/** Links to the previous and next page of a list with numbered pages. */
export function numberedPages(
  { page, pages }: { readonly page: number; readonly pages: number },
  urlOf: (page: number) => string,
): Markup | string {
  if (pages < 2) return '';
  return pageLinks(
    page > 1 ? link(urlOf(page - 1), 'Previous page', 'prev') : '',
    html`<span>Page ${page} of ${pages}</span>`,
    page < pages ? link(urlOf(page + 1), 'Next page', 'next') : '',
  );
}

export const unknownPage = 'Unknown page. Remove `before` from the URL.';

/** Start position of a page of a list, from the query. */
export function positionIn(text: string): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid({ pointer: '#/before', detail: unknownPage });
}

export const link = (href: string, text: string, rel?: 'prev' | 'next'): Markup =>
  html`<a href="${href}"${rel === undefined ? '' : html` rel="${rel}"`}>${text}</a>`;

/** Links to the newest and to older entries of a list, unless this page shows them. */
export const olderLinks = (
  isLater: boolean,
  next: string | undefined,
  urlOf: (before?: string) => string,
): Markup | string =>
  pageLinks(isLater ? link(urlOf(), 'Newest') : '', next === undefined ? '' : link(urlOf(next), 'Older', 'next'));

/** Links to the other pages of a list, if any. */
const pageLinks = (...links: readonly (Markup | string)[]): Markup | string =>
  links.every((each) => each === '') ? '' : html`<nav class="pages" aria-label="Pages">${links}</nav>`;

const cellsOf = (row: Row): readonly Cell[] => row.filter((cell) => cell !== '');

const tableCell = ([heading, content, kind]: Cell): Markup =>
  kind === 'head'
    ? html`<th scope="row">${content}</th>`
    : html`<td${classOf(kind)}${typeof heading === 'string' ? html` data-label="${heading}"` : ''}>${content}</td>`;

const classOf = (kind: string | undefined): Markup | string =>
  kind === undefined || kind === 'head' ? '' : html` class="${kind}"`;
