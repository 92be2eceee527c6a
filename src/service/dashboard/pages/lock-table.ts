import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import type { ActiveLock } from '../../locks/list.ts';
import { isOwnLock } from '../../locks/release.ts';
import { safeText } from '../../platform/safe-text.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { noRun, plural, shortRun } from '../assets/text.js';
import { pathLink, waitingLink } from '../elements/lock.ts';
import {
  extendAddress,
  folderName,
  folderOf,
  type ListQuery,
  listAddress,
  pathAddress,
  releaseAddress,
  releaseText,
  type ShownLock,
  type SortKey,
  sortKeys,
} from '../elements/lock-list.ts';
import { countdown, type Markup, time } from '../elements/text.ts';

/** Number of rows per page of the list. */
export const lockPageSize = 200;

export function shownLock(bearer: Bearer, held: ActiveLock): ShownLock {
  const { lock } = held;
  const { id, path, owner, origin, note, acquired_at, expires_at } = lock;
  return { id, path, owner, origin, note, acquired_at, expires_at, release: releaseWay(bearer, held) };
}

export interface TableRows {
  readonly locks: readonly ShownLock[];
  /** Number of locks in each folder, on all pages. */
  readonly folders: ReadonlyMap<string, number>;
  /** Number of those who wait for each lock, by its id. */
  readonly waiting: ReadonlyMap<string, number>;
}

export interface RowContext {
  readonly workspace: string;
  readonly now: number;
  /** Whether any lock can be released from this page. */
  readonly releasing: boolean;
}

/** Rows are grids of equal height. The roles keep the table accessible. The script keeps rows with the same key. */
export function lockTableHtml(context: RowContext, query: ListQuery, { locks, folders, waiting }: TableRows): Markup {
  const { workspace, releasing } = context;
  const columns = sortKeys.length + 1;
  const rows = locks.flatMap((lock, index) => {
    const folder = folderOf(lock.path);
    const before = locks[index - 1];
    const begins = query.group && (before === undefined || folderOf(before.path) !== folder);
    return [
      begins ? folderRow(folder, folders.get(folder) ?? 0, columns) : '',
      lockRow(context, lock, query.group, waiting.get(lock.id)),
    ];
  });
  return html`<table role="table" class="locks${releasing ? ' releasing' : ''}" aria-label="Locks">
    <thead role="rowgroup" data-part="headings"><tr role="row">
      ${sortKeys.map((by) => columnHeading(workspace, query, by))}
      <th role="columnheader" scope="col" class="lock-actions"><span class="visually-hidden">Options</span></th>
    </tr></thead>
    <tbody role="rowgroup" data-part="rows">${rows}</tbody>
  </table>`;
}

export type ReleaseWay = ShownLock['release'];

export function releaseWay({ id, owner, scopes }: Bearer, { lock, tokenId }: ActiveLock): ReleaseWay {
  const own = isOwnLock({ owner: lock.owner, token_id: tokenId }, { owner, tokenId: id });
  if (own) return grants(scopes, 'locks:write') ? 'own' : 'none';
  return grants(scopes, 'locks:admin') ? 'force' : 'none';
}

export const columnNames: Readonly<Record<SortKey, string>> = {
  path: 'Path',
  holder: 'Holder',
  run: 'From run',
  since: 'Since',
  left: 'Time left',
};

/** The first click on a column sorts it ascending, the next one descending. */
function columnHeading(workspace: string, query: ListQuery, by: SortKey): Markup {
  const current = query.by === by;
  const direction = query.descending ? 'descending' : 'ascending';
  const descending = current && !query.descending;
  const href = listAddress(workspace, { ...query, by, descending, page: 1 });
  return html`<th role="columnheader" scope="col" class="lock-${by === 'holder' ? 'owner' : by}"${current ? html` aria-sort="${direction}"` : ''}><a href="${href}" data-sort="${by}">${columnNames[by]}</a></th>`;
}

function lockRow(context: RowContext, lock: ShownLock, isBelowFolder: boolean, waiting?: number): Markup {
  const { workspace, now, releasing } = context;
  const { path, owner, origin, note, acquired_at, expires_at } = lock;
  return html`<tr role="row" class="lock" data-key="${lock.id}">
    <th role="rowheader" scope="row" class="lock-path">${releasing ? selection(lock) : ''}${pathLink(workspace, path, { isBelowFolder })}${waitingLink(workspace, path, waiting)}</th>
    <td role="cell" class="lock-owner"><bdi class="owner" title="${safeText(owner)}">${safeText(owner)}</bdi>${noteIn(note)}</td>
    <td role="cell" class="lock-run">${runLink(origin)}</td>
    <td role="cell" class="lock-since">${time(acquired_at, now)}</td>
    <td role="cell" class="lock-left">${countdown(expires_at, now)}<span class="on-cards"> left</span></td>
    <td role="cell" class="lock-actions">${releasing ? changeLinks(workspace, lock, 'row') : ''}${lockMenu(context, lock)}</td>
  </tr>`;
}

/** Id of the form that releases the selected locks. */
export const selectionForm = 'release-selected';

const selection = ({ id, path, release }: ShownLock): Markup | string =>
  release === 'none'
    ? ''
    : html`<input type="checkbox" class="select" name="lock" value="${id}" form="${selectionForm}" aria-label="Select ${safeText(path)}">`;

/**
 * Menus share a name, so that at most one is open, even without JavaScript. The stylesheet hides the copy button then.
 */
const lockMenu = ({ workspace, releasing }: RowContext, lock: ShownLock): Markup =>
  html`<details class="menu" name="lock-menu"><summary class="button" aria-label="Actions for ${safeText(lock.path)}">⋯</summary>
    <div>
      ${releasing ? changeLinks(workspace, lock, 'menu') : ''}
      <button type="button" class="copy" value="${lock.path}">Copy path</button>
      <a class="button history" href="${pathAddress(workspace, lock.path)}">History of this path</a>
    </div>
  </details>`;

/** The labels of links in a row name the path. In the menu, the label of the menu does. */
function changeLinks(workspace: string, lock: ShownLock, where: 'row' | 'menu'): Markup {
  const { release, path } = lock;
  const label = (text: string) => (where === 'row' ? html` aria-label="${text} ${safeText(path)}"` : '');
  const text = releaseText(lock);
  return html`${release === 'own' ? html`<a class="button extend" href="${extendAddress(workspace, lock)}"${label('Extend')}>Extend</a>` : ''}
    ${release === 'none' ? '' : html`<a class="button release${release === 'force' ? ' danger' : ''}" href="${releaseAddress(workspace, lock)}"${label(text)}>${text}</a>`}`;
}

const folderRow = (
  folder: string,
  count: number,
  columns: number,
): Markup => html`<tr role="row" class="folder-row" data-key="${folder}/">
    <th role="rowheader" scope="rowgroup" colspan="${columns}" aria-colspan="${columns}"><bdi class="folder">${safeText(folderName(folder))}</bdi> <span class="faint folder-count">${plural(count, 'lock')}</span></th>
  </tr>`;

const noteIn = (note: string | null): Markup | string =>
  note === null ? '' : html`<bdi class="note faint" title="${safeText(note)}">${safeText(note)}</bdi>`;

function runLink(origin: string | null): Markup {
  const text = shortRun(origin);
  return text === undefined
    ? html`<span class="faint no-run">${noRun(origin)}</span>`
    : html`<a class="run" rel="noreferrer noopener" href="${origin}" title="${safeText(origin ?? '')}"><bdi>${safeText(text)}</bdi></a>`;
}
