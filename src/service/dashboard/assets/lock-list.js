/** Which locks are shown, and in which order: the same as `../locks/arrange.ts` and `../locks/list-query.ts`. No DOM. */

/**
 * @typedef {object} Lock
 * @property {string} id
 * @property {string} path
 * @property {string} owner
 * @property {string | null} origin
 * @property {string} acquired_at
 * @property {string} expires_at
 * @property {'own' | 'force' | 'none'} release
 */

/** @typedef {'path' | 'holder' | 'run' | 'since' | 'left'} SortKey */

/**
 * @typedef {object} ListQuery
 * @property {string} search
 * @property {SortKey} by
 * @property {boolean} descending
 * @property {boolean} group
 * @property {string} path
 */

/** @typedef {{ kind: 'lock', key: string, lock: Lock } | { kind: 'folder', key: string, folder: string, count: number }} Row */

/** @type {Readonly<Record<SortKey, (lock: Lock) => string>>} */
const sortValue = {
  path: ({ path }) => path,
  holder: ({ owner }) => owner,
  run: ({ origin }) => origin ?? '',
  since: ({ acquired_at }) => acquired_at,
  left: ({ expires_at }) => expires_at,
};

/** @param {string} path */
export const folderOf = (path) => path.slice(0, path.lastIndexOf('/') + 1);

/** @param {string} one @param {string} other */
const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** A search looks into it at every key stroke, so it is made once. @type {WeakMap<Lock, string>} */
const searchTexts = new WeakMap();

/** @param {Lock} lock */
function searchText(lock) {
  const known = searchTexts.get(lock);
  if (known !== undefined) return known;
  const text = `${lock.path}\n${lock.owner}\n${lock.origin ?? ''}`.toLowerCase();
  searchTexts.set(lock, text);
  return text;
}

/** @param {readonly Lock[]} locks @param {ListQuery} query */
export function matching(locks, { search, path }) {
  const words = search.normalize('NFC').toLowerCase().split(/\s+/);
  return locks.filter(
    (lock) => (path === '' || lock.path === path) && words.every((word) => searchText(lock).includes(word)),
  );
}

/** @param {readonly Lock[]} locks @param {Pick<ListQuery, 'by' | 'descending' | 'group'>} query */
export function sorted(locks, { by, descending, group }) {
  const value = sortValue[by];
  const direction = descending ? -1 : 1;
  const folderDirection = by === 'path' ? direction : 1;
  return locks.toSorted(
    (one, other) =>
      (group ? compare(folderOf(one.path), folderOf(other.path)) * folderDirection : 0) ||
      compare(value(one), value(other)) * direction ||
      compare(one.path, other.path),
  );
}

/**
 * @param {readonly Lock[]} locks in their order
 * @param {boolean} group
 * @param {ReadonlySet<string>} folded folders of which only the name is shown
 * @returns {Row[]}
 */
export function rowsOf(locks, group, folded) {
  if (!group) return locks.map((lock) => ({ kind: 'lock', key: lock.path, lock }));
  /** @type {Row[]} */
  const rows = [];
  /** @type {Extract<Row, { kind: 'folder' }> | undefined} */
  let current;
  for (const lock of locks) {
    const folder = folderOf(lock.path);
    if (current?.folder !== folder) {
      // No path of a lock ends in a slash or is empty, as every folder does or is.
      current = { kind: 'folder', key: folder, folder, count: 0 };
      rows.push(current);
    }
    current.count += 1;
    if (!folded.has(folder)) rows.push({ kind: 'lock', key: lock.path, lock });
  }
  return rows;
}

const sortKeys = /** @type {const} */ (['path', 'holder', 'run', 'since', 'left']);

/** @param {string} text @returns {Pick<ListQuery, 'by' | 'descending'>} */
export function parseSort(text) {
  const descending = text.startsWith('-');
  const by = sortKeys.find((key) => key === text.slice(descending ? 1 : 0));
  return by === undefined ? { by: 'path', descending: false } : { by, descending };
}

/** @param {Pick<ListQuery, 'by' | 'descending'>} sort */
export const sortText = ({ by, descending }) => `${descending ? '-' : ''}${by}`;

/** @param {string} search of an address @returns {ListQuery} */
export function parseListQuery(search) {
  const parameters = new URLSearchParams(search);
  return {
    search: (parameters.get('search') ?? '').trim(),
    ...parseSort(parameters.get('sort') ?? ''),
    group: parameters.get('group') === 'folder',
    path: parameters.get('path') ?? '',
  };
}

/** @param {ListQuery} query */
export function listSearch({ search, by, descending, group, path }) {
  const parameters = new URLSearchParams();
  if (search.trim() !== '') parameters.set('search', search.trim());
  if (by !== 'path' || descending) parameters.set('sort', sortText({ by, descending }));
  if (group) parameters.set('group', 'folder');
  if (path !== '') parameters.set('path', path);
  return parameters.size === 0 ? '' : `?${parameters}`;
}
