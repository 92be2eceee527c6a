import { html } from 'hono/html';
import type { Lock } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { isOwnLock } from '../../locks/release.ts';
import { safeText } from '../../platform/safe-text.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { hiddenHeading } from '../elements/list.ts';
import { holderCell, originLink, pathLink, waitingLink } from '../elements/lock.ts';
import { extendUrl, type ListQuery, listUrl, releaseUrl, type SortKey, sortKeys } from '../elements/lock-list.ts';
import { countdown, type Markup, time } from '../elements/text.ts';
import type { WorkspaceCall } from '../frame/page.ts';

export const lockPageSize = 200;

interface TableRows {
  readonly locks: readonly LockRow[];
  /** Number of those who wait for each lock, by its id. */
  readonly waiting: ReadonlyMap<string, number>;
}

/** The script keeps rows with the same key. */
export function lockTableHtml(call: WorkspaceCall, query: ListQuery, { locks, waiting }: TableRows): Markup {
  const { id } = call.workspace;
  const rows = locks.map((lock) => lockRow(call, lock, waiting.get(lock.id)));
  return html`<table class="cards clipped locks" aria-label="Locks">
    <thead data-part="headings"><tr>
      ${sortKeys.map((by) => columnHeading(id, query, by))}
      ${mayLock(call) ? html`<th scope="col">${hiddenHeading('Options')}</th>` : ''}
    </tr></thead>
    <tbody data-part="rows">${rows}</tbody>
  </table>`;
}

export const mayLock = ({ bearer }: WorkspaceCall): boolean => grants(bearer.scopes, 'locks:write');

type ReleaseWay = 'own' | 'force' | 'none';

/** How the viewer can release a lock. */
export function releaseWay(bearer: Bearer, lock: LockRow): ReleaseWay {
  if (isOwnLock(lock, bearer)) return grants(bearer.scopes, 'locks:write') ? 'own' : 'none';
  return grants(bearer.scopes, 'locks:admin') ? 'force' : 'none';
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
  const href = listUrl(workspace, { ...query, by, descending, page: 1 });
  return html`<th scope="col"${current ? html` aria-sort="${direction}"` : ''}><a href="${href}">${columnNames[by]}</a></th>`;
}

function lockRow(call: WorkspaceCall, row: LockRow, waiting?: number): Markup {
  const { now } = call;
  const workspace = call.workspace.id;
  const lock = toLock(row);
  const { id, path, origin, acquired_at, expires_at } = lock;
  const way = releaseWay(call.bearer, row);
  return html`<tr data-key="${id}">
    <th scope="row"><div class="lock-path">${way !== 'none' ? selection(lock) : ''}${pathLink(workspace, path)}${waitingLink(workspace, path, waiting)}</div></th>
    <td data-label="${columnNames.holder}">${holderCell(lock)}</td>
    <td data-label="${columnNames.run}">${originLink(origin, 'short')}</td>
    <td data-label="${columnNames.since}">${time(acquired_at, now)}</td>
    <td data-label="${columnNames.left}">${countdown(expires_at, now)}</td>
    ${mayLock(call) ? html`<td>${changeLinks(workspace, lock, way)}</td>` : ''}
  </tr>`;
}

export const selectionForm = 'release-selected';

const selection = ({ id, path }: Lock): Markup =>
  html`<input type="checkbox" class="select" name="lock" value="${id}" form="${selectionForm}" aria-label="Select ${safeText(path)}">`;

function changeLinks(workspace: string, lock: Lock, way: ReleaseWay): Markup {
  const link = (text: string, href: string) =>
    html`<a href="${href}" aria-label="${text} ${safeText(lock.path)}">${text}</a>`;
  return html`${way === 'own' ? link('Extend', extendUrl(workspace, lock)) : ''}
    ${way === 'none' ? '' : link(releaseTexts[way], releaseUrl(workspace, lock))}`;
}

export const releaseTexts = { own: 'Release', force: 'Force release' } as const;
