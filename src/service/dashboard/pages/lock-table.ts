import { html } from 'hono/html';
import { safeText } from '../../../interface/safe-text.ts';
import { grants } from '../../../interface/scopes.ts';
import type { LockOrder } from '../../locks/list-page.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { isOwnLock } from '../../locks/release.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { hiddenHeading } from '../elements/list.ts';
import { askUrl, holderCell, pathLink, waitingLink } from '../elements/lock.ts';
import { extendUrl, type ListQuery, listUrl, releaseUrl } from '../elements/lock-list.ts';
import { countdown, type Markup, time } from '../elements/text.ts';
import type { PageCall, WorkspaceCall } from '../frame/page.ts';

export const lockPageSize = 100;

interface TableRows {
  readonly locks: readonly LockRow[];
  /** Number of those who wait for each lock, by its id. */
  readonly waiting: ReadonlyMap<string, number>;
}

/** The script keeps rows with the same key. */
export const lockTableHtml = (call: WorkspaceCall, query: ListQuery, { locks, waiting }: TableRows): Markup =>
  html`<table class="cards clipped locks" aria-label="Locks">
    <thead data-part="headings"><tr>
      ${columnHeading(call, query, 'path')}
      <th scope="col">Holder</th>
      ${columnHeading(call, query, 'since')}
      ${columnHeading(call, query, 'left')}
      ${mayLock(call) ? html`<th scope="col">${hiddenHeading('Options')}</th>` : ''}
    </tr></thead>
    <tbody data-part="rows">${locks.map((lock) => lockRow(call, lock, waiting.get(lock.id)))}</tbody>
  </table>`;

export const mayLock = ({ bearer }: PageCall): boolean => grants(bearer.scopes, 'locks:write');

type ReleaseWay = 'own' | 'force' | 'none';

/** How the viewer can release a lock. */
export function releaseWay(bearer: Bearer, lock: LockRow): ReleaseWay {
  if (isOwnLock(lock, bearer)) return grants(bearer.scopes, 'locks:write') ? 'own' : 'none';
  return grants(bearer.scopes, 'locks:admin') ? 'force' : 'none';
}

export const columnNames: Readonly<Record<LockOrder, string>> = { path: 'Path', since: 'Since', left: 'Time left' };

/** The first click on a column sorts it ascending, the next one descending. The locks of one holder have one order. */
function columnHeading({ workspace: { id } }: WorkspaceCall, query: ListQuery, by: LockOrder): Markup {
  if (query.holder !== '') return html`<th scope="col">${columnNames[by]}</th>`;
  const isCurrent = query.by === by;
  const direction = query.descending ? 'descending' : 'ascending';
  const href = listUrl(id, { ...query, by, descending: isCurrent && !query.descending, after: '' });
  return html`<th scope="col"${isCurrent ? html` aria-sort="${direction}"` : ''}><a href="${href}">${columnNames[by]}</a></th>`;
}

function lockRow(call: WorkspaceCall, row: LockRow, waiting = 0): Markup {
  const { now } = call;
  const workspace = call.workspace.id;
  const lock = toLock(row);
  const { id, path, acquired_at, expires_at } = lock;
  const isSelectable = releaseWay(call.bearer, row) !== 'none';
  return html`<tr data-key="${id}">
    <th scope="row"><div class="lock-path">${isSelectable ? selection(row) : ''}${pathLink(workspace, path)}${waitingLink(workspace, path, waiting, isOwnLock(row, call.bearer))}</div></th>
    <td data-label="Holder">${holderCell(lock, workspace)}</td>
    <td data-label="${columnNames.since}">${time(acquired_at, now)}</td>
    <td data-label="${columnNames.left}">${countdown(expires_at, now)}</td>
    ${mayLock(call) ? html`<td>${lockLinks(call, row)}</td>` : ''}
  </tr>`;
}

export const selectionForm = 'release-selected';

const selection = ({ id, path }: LockRow): Markup =>
  html`<input type="checkbox" class="select" name="lock" value="${id}" form="${selectionForm}" aria-label="Select ${safeText(path)}">`;

/** What the viewer can do about a lock. */
export function lockLinks({ bearer }: PageCall, row: LockRow, { kind = '', isWaiting = false } = {}): Markup {
  const { workspace_id: workspace, path } = row;
  const action = (text: string, href: string) =>
    html`<a class="${kind}" href="${href}" aria-label="${text} ${safeText(path)}">${text}</a>`;
  const way = releaseWay(bearer, row);
  if (way === 'own')
    return html`${action('Extend', extendUrl(workspace, row))} ${action(releaseTexts.own, releaseUrl(workspace, row))}`;
  return html`${isWaiting ? '' : action('Ask', askUrl(workspace, path))} ${way === 'force' ? action(releaseTexts.force, releaseUrl(workspace, row)) : ''}`;
}

export const releaseTexts = { own: 'Release', force: 'Force release' } as const;
