import { html } from 'hono/html';
import { invalid } from '../../contract/problem.ts';
import type { Markup } from './text.ts';

/** A visually hidden heading, for a column that contains only buttons or links. */
export const unseen = (heading: string): Markup => html`<span class="visually-hidden">${heading}</span>`;

export type Heading = Markup | string | [text: string, kind: 'number' | 'wide' | 'number wide'];

/** A table. An empty heading stands for a column that is omitted. */
export const htmlTable = (kind: string, headings: readonly Heading[], rows: readonly Markup[]): Markup =>
  html`<table class="${kind}">
    <thead><tr>${headings.map(headingCell)}</tr></thead>
    <tbody>${rows}</tbody>
  </table>`;

interface RowGroup {
  readonly title: Markup;
  readonly rows: readonly Markup[];
}

/** A table of groups, each below its title. Headings must not be empty. */
export const groupedTable = (kind: string, headings: readonly Heading[], groups: readonly RowGroup[]): Markup =>
  html`<table class="${kind}">
    <thead><tr>${headings.map(headingCell)}</tr></thead>
    ${groups.map(
      ({ title, rows }) =>
        html`<tbody><tr class="group"><th scope="rowgroup" colspan="${headings.length}">${title}</th></tr>${rows}</tbody>`,
    )}
  </table>`;

/** A URL path with the non-empty parameters. */
export function addressWith(path: string, query: Readonly<Record<string, string | undefined>>): string {
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
  [previous, next]: readonly [previous: string, next: string],
  addressOf: (page: number) => string,
): Markup | string {
  if (pages < 2) return '';
  return pageLinks(
    page > 1 ? link(addressOf(page - 1), previous, 'prev') : '',
    html`<span>Page ${page} of ${pages}</span>`,
    page < pages ? link(addressOf(page + 1), next, 'next') : '',
  );
}

/** Start position of a page of a list, from the query. */
export function positionIn(
  text: string,
  reason = 'There is no such page. Start again without it.',
): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid({ pointer: '#/before', detail: reason });
}

export const link = (href: string, text: string, rel?: 'prev' | 'next'): Markup =>
  html`<a href="${href}"${rel === undefined ? '' : html` rel="${rel}"`}>${text}</a>`;

/** Links to the newest and to older entries of a list, unless this page shows them. */
export const olderLinks = (
  isLater: boolean,
  next: string | undefined,
  addressOf: (before?: string) => string,
): Markup | string =>
  pageLinks(
    isLater ? link(addressOf(), 'Newest') : '',
    next === undefined ? '' : link(addressOf(next), 'Older', 'next'),
  );

/** Links to the other pages of a list, if any. */
const pageLinks = (...links: readonly (Markup | string)[]): Markup | string =>
  links.every((each) => each === '') ? '' : html`<nav class="pages" aria-label="Pages">${links}</nav>`;

function headingCell(heading: Heading): Markup | string {
  if (heading === '') return '';
  if (!Array.isArray(heading)) return html`<th scope="col">${heading}</th>`;
  const [text, kind] = heading;
  return html`<th scope="col" class="${kind}">${text}</th>`;
}
