import { formatNumber, pluralize } from '../../../interface/format.ts';
import {
  type LockOrder,
  type LockPageQuery,
  type LockPosition,
  lockOrders,
  maxCounted,
} from '../../locks/list-page.ts';
import type { LockRow } from '../../locks/lock-row.ts';
import { urlWith } from './list.ts';

/** Filters, order and URLs of the list of locks. */
export interface ListQuery {
  readonly search: string;
  /** Only the locks of this owner, by path. */
  readonly holder: string;
  /** Only the lock on this path: for links from messages about a locked file. */
  readonly path: string;
  readonly by: LockOrder;
  readonly descending: boolean;
  /** The position after which the page begins; empty for the first page. */
  readonly after: string;
}

export const queryNames = ['search', 'holder', 'path', 'sort', 'after'] as const;

const maxSearchLength = 256;
const maxWords = 8;

/** Ignores invalid parameters, because people also type and shorten URLs. */
export function parseListQuery(parameters: URLSearchParams): ListQuery {
  // PostgreSQL refuses texts with this character.
  const text = (name: (typeof queryNames)[number]): string => (parameters.get(name) ?? '').replaceAll('\0', '');
  const holder = text('holder');
  const order = holder === '' ? text('sort') : '';
  const descending = order.startsWith('-');
  const by = lockOrders.find((key) => key === order.slice(descending ? 1 : 0));
  return {
    search: text('search').slice(0, maxSearchLength).trim(),
    holder,
    path: text('path'),
    ...(by === undefined ? { by: 'path', descending: false } : { by, descending }),
    after: text('after'),
  };
}

/** The URL of a list, with only the parameters that differ from the default. */
export const listUrl = (workspace: string, query: Partial<ListQuery> = {}): string =>
  `/workspaces/${workspace}/locks${listSearch(query)}`;

export const listEventsUrl = (workspace: string, query: ListQuery): string =>
  `/workspaces/${workspace}/locks/events${listSearch(query)}`;

function listSearch({ by = 'path', descending = false, ...texts }: Partial<ListQuery>): string {
  const sort = sortText({ by, descending });
  return urlWith('', { ...texts, sort: sort === 'path' ? '' : sort });
}

export const sortText = ({ by, descending }: Pick<ListQuery, 'by' | 'descending'>): string =>
  `${descending ? '-' : ''}${by}`;

export const pageQueryOf = (
  workspace: string,
  { search, holder, path, after, ...order }: ListQuery,
): Omit<LockPageQuery, 'limit'> => ({
  workspace,
  words: search
    .normalize('NFC')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords),
  path: path === '' ? undefined : path,
  owner: holder === '' ? undefined : holder,
  ...order,
  after: after === '' ? undefined : parsePosition(order.by, after),
});

export const positionText = ([value, path]: LockPosition, by: LockOrder): string =>
  by === 'left' ? `${value} ${path}` : String(value);

function parsePosition(by: LockOrder, text: string): LockPosition | undefined {
  if (by !== 'left') return [text, text];
  const [, time, path] = /^(\d{1,15}) (.*)$/s.exec(text) ?? [];
  return time === undefined || path === undefined ? undefined : [Number(time), path];
}

/** "500 of 4,956 locks"; large numbers are not counted. */
export const countText = (shown: number, all: number): string =>
  shown >= all ? pluralize(shown, 'lock') : `${formatNumber(shown)} of ${totalText(all)}`;

export const totalText = (all: number): string =>
  all > maxCounted ? `more than ${pluralize(maxCounted, 'lock')}` : pluralize(all, 'lock');

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** The URL of the page of a path. As in the API, the path is one segment. */
export const pathUrl = (workspace: string, path: string): string =>
  `/workspaces/${workspace}/paths/${encodeURIComponent(path)}`;

/** The pages act on exactly the lock with this id. */
type OneLock = Pick<LockRow, 'path' | 'id'>;

export const releaseUrl = (workspace: string, { path, id }: OneLock): string =>
  urlWith(`/workspaces/${workspace}/locks/release`, { path, lock: id });

export const extendUrl = (workspace: string, { path, id }: OneLock): string =>
  urlWith(`/workspaces/${workspace}/locks/extend`, { path, lock: id });

export const ownLocksUrl = '/my-locks';
