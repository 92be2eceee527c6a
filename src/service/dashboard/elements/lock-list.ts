import type { LockRow } from '../../locks/lock-row.ts';
import { urlWith } from './list.ts';

/** Filters, order and URL of a list of locks. */

/** Sort keys, in the order of the columns. */
export const sortKeys = ['path', 'holder', 'run', 'since', 'left'] as const;

export type SortKey = (typeof sortKeys)[number];

interface Sort {
  readonly by: SortKey;
  readonly descending: boolean;
}

export interface ListQuery extends Sort {
  readonly search: string;
  /** Only the lock on this path: for links from messages about a locked file. */
  readonly path: string;
  /** Starts at 1. */
  readonly page: number;
}

export type ListedLock = Pick<LockRow, 'path' | 'owner' | 'origin' | 'note' | 'acquired_at' | 'expires_at'>;

/** Locks with every word of the search in their path, holder, note or run. Case-insensitive. */
export function matching<L extends ListedLock>(
  locks: readonly L[],
  { search, path }: Pick<ListQuery, 'search' | 'path'>,
): readonly L[] {
  const words = search.normalize('NFC').toLowerCase().split(/\s+/);
  const textOf = ({ path, owner, origin, note }: L): string =>
    `${path}\n${owner}\n${origin ?? ''}\n${note ?? ''}`.toLowerCase();
  return locks.filter(
    (lock) =>
      (path === '' || lock.path === path) && (search === '' || words.every((word) => textOf(lock).includes(word))),
  );
}

const sortValue: Readonly<Record<SortKey, (lock: ListedLock) => string | number>> = {
  path: ({ path }) => path,
  holder: ({ owner }) => owner,
  run: ({ origin }) => origin ?? '',
  since: ({ acquired_at }) => acquired_at,
  left: ({ expires_at }) => expires_at,
};

export function sorted<L extends ListedLock>(
  locks: readonly L[],
  { by, descending }: Pick<ListQuery, 'by' | 'descending'>,
): readonly L[] {
  const value = sortValue[by];
  const direction = descending ? -1 : 1;
  return locks.toSorted((one, other) => compare(value(one), value(other)) * direction || compare(one.path, other.path));
}

const compare = (one: string | number, other: string | number): number => (one < other ? -1 : one > other ? 1 : 0);

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

export const sortText = ({ by, descending }: Sort): string => `${descending ? '-' : ''}${by}`;

/** Limits the cost of a search: each word is compared with each lock. */
const maxSearchLength = 256;

export const queryNames = ['search', 'sort', 'path', 'page'] as const;

/** Ignores invalid parameters, because people also type and shorten URLs. */
export function parseListQuery(parameters: URLSearchParams): ListQuery {
  const text = (name: (typeof queryNames)[number]): string => parameters.get(name) ?? '';
  return {
    search: text('search').slice(0, maxSearchLength).trim(),
    ...parseSort(text('sort')),
    path: text('path'),
    page: /^[1-9]\d{0,5}$/.test(text('page')) ? Number(text('page')) : 1,
  };
}

/** Parses `left`, or `-left` for the reverse order. */
function parseSort(text: string): Sort {
  const descending = text.startsWith('-');
  const by = sortKeys.find((key) => key === text.slice(descending ? 1 : 0));
  return by === undefined ? { by: 'path', descending: false } : { by, descending };
}

/** The URL of a list, with only the parameters that differ from the default. */
export function listUrl(
  workspace: string,
  { search = '', by = 'path', descending = false, path = '', page = 1 }: Partial<ListQuery> = {},
): string {
  return urlWith(`/workspaces/${workspace}/locks`, {
    search: search.trim(),
    sort: by === 'path' && !descending ? '' : sortText({ by, descending }),
    path,
    page: page > 1 ? String(page) : '',
  });
}

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
