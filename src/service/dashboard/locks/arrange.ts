import type { Lock } from '../../../interface/resources.ts';
import type { ListQuery, SortKey } from './list-query.ts';

/** What a search looks into, and what is sorted by. `../assets/lock-list.js` does the same in the browser. */
type Listed = Pick<Lock, 'path' | 'owner' | 'origin' | 'acquired_at' | 'expires_at'>;

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

const sortValue: Readonly<Record<SortKey, (lock: Listed) => string>> = {
  path: ({ path }) => path,
  holder: ({ owner }) => owner,
  run: ({ origin }) => origin ?? '',
  since: ({ acquired_at }) => acquired_at,
  left: ({ expires_at }) => expires_at,
};

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Those that have every word of the search in their path, holder or run, whatever the case of its letters. */
function matching<L extends Listed>(locks: readonly L[], { search, path }: ListQuery): readonly L[] {
  const words = search.normalize('NFC').toLowerCase().split(/\s+/);
  return locks.filter((lock) => {
    if (path !== '' && lock.path !== path) return false;
    const text = `${lock.path}\n${lock.owner}\n${lock.origin ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The locks that are asked for, in the order that is asked for; with groups, folder by folder. */
export function arrange<L extends Listed>(locks: readonly L[], query: ListQuery): readonly L[] {
  const { sort, group } = query;
  const value = sortValue[sort.by];
  const direction = sort.descending ? -1 : 1;
  const folderDirection = sort.by === 'path' ? direction : 1;
  return matching(locks, query).toSorted(
    (one, other) =>
      (group ? compare(folderOf(one.path), folderOf(other.path)) * folderDirection : 0) ||
      compare(value(one), value(other)) * direction ||
      compare(one.path, other.path),
  );
}
