import { html } from 'hono/html';
import type { Markup } from '../elements/markup.ts';
import { folderOf } from './arrange.ts';
import { type ListQuery, listAddress, type SortKey, sortKeys } from './list-query.ts';
import { folderRow, lockRow, type RowPlace } from './lock-row.ts';
import type { ShownLock } from './shown-lock.ts';

export const columnNames: Readonly<Record<SortKey, string>> = {
  path: 'Path',
  holder: 'Holder',
  run: 'From run',
  since: 'Since',
  left: 'Time left',
};

/** The first click on a column sorts it upwards, the next one downwards. */
function columnHeading(workspace: string, query: ListQuery, by: SortKey): Markup {
  const { sort } = query;
  const current = sort.by === by;
  const direction = sort.descending ? 'descending' : 'ascending';
  const next = { by, descending: current && !sort.descending };
  const href = listAddress(workspace, { ...query, sort: next, page: 1 });
  return html`<th role="columnheader" scope="col" class="lock-${by === 'holder' ? 'owner' : by}"${current ? html` aria-sort="${direction}"` : ''}><a href="${href}" data-sort="${by}">${columnNames[by]}</a></th>`;
}

const dummy: ShownLock = {
  id: '',
  path: 'a/b',
  owner: '',
  origin: null,
  acquired_at: new Date(0).toISOString(),
  expires_at: new Date(0).toISOString(),
  release: 'none',
};

export interface TableRows {
  /** Of this page. */
  readonly locks: readonly ShownLock[];
  /** Of all pages: how many locks each folder has. */
  readonly folders: ReadonlyMap<string, number>;
  /** How many rows there are on all pages. */
  readonly total: number;
  readonly hidden: boolean;
}

export function lockTable(place: RowPlace, query: ListQuery, { locks, folders, total, hidden }: TableRows): Markup {
  const { workspace, releasing } = place;
  const columns = sortKeys.length + (releasing ? 1 : 0);
  const rows = locks.flatMap((lock, index) => {
    const folder = folderOf(lock.path);
    const before = locks[index - 1];
    const begins = query.group && (before === undefined || folderOf(before.path) !== folder);
    return begins
      ? [folderRow(folder, folders.get(folder) ?? 0, columns), lockRow(place, lock)]
      : [lockRow(place, lock)];
  });
  return html`<table role="table" class="locks${releasing ? ' releasing' : ''}${query.group ? ' grouped' : ''}" aria-label="Locks" aria-rowcount="${total + 1}"${hidden ? html` hidden` : ''}>
    <thead role="rowgroup"><tr role="row" aria-rowindex="1">
      ${sortKeys.map((by) => columnHeading(workspace, query, by))}
      ${releasing ? html`<th role="columnheader" scope="col" class="lock-release"><span class="visually-hidden">Release</span></th>` : ''}
    </tr></thead>
    <tbody role="rowgroup">${rows}</tbody>
  </table>
  <template id="lock-row">${lockRow(place, dummy)}</template>
  <template id="folder-row">${folderRow('a/', 0, columns)}</template>`;
}
