/** Which locks are shown, in which order, and by which address. No DOM: the service uses it as well. */

/**
 * What a page is told of a lock.
 * @typedef {object} ShownLock
 * @property {string} id
 * @property {string} path
 * @property {string} owner
 * @property {string | null} origin
 * @property {string | null} note
 * @property {string} acquired_at
 * @property {string} expires_at
 * @property {'own' | 'force' | 'none'} release how whoever looks at it can release it
 */

/** @typedef {'path' | 'holder' | 'run' | 'since' | 'left'} SortKey */

/** @typedef {{ readonly by: SortKey, readonly descending: boolean }} Sort */

/**
 * What is shown of the locks, as the address of the page says it.
 * @typedef {object} ListQuery
 * @property {string} search
 * @property {SortKey} by
 * @property {boolean} descending
 * @property {boolean} group
 * @property {string} path only the lock on this path: where a message about a locked file points to
 * @property {number} page from 1; only without JavaScript
 */

/**
 * The key of a lock is its id: a row is of one lock for as long as it exists, whoever takes the path next.
 * @typedef {{ kind: 'lock', key: string, lock: ShownLock } | { kind: 'folder', key: string, folder: string, count: number }} Row
 */

/** In the order of the columns. */
export const sortKeys = /** @type {const} */ (['path', 'holder', 'run', 'since', 'left']);

/** @type {Readonly<Record<SortKey, (lock: ShownLock) => string>>} */
const sortValue = {
  path: ({ path }) => path,
  holder: ({ owner }) => owner,
  run: ({ origin }) => origin ?? '',
  since: ({ acquired_at }) => acquired_at,
  left: ({ expires_at }) => expires_at,
};

/** @param {string} path */
export const folderOf = (path) => path.slice(0, path.lastIndexOf('/') + 1);

/** @param {string} folder */
export const folderName = (folder) => (folder === '' ? 'Outside of all folders' : folder);

/** @param {Pick<ShownLock, 'release'>} lock */
export const releaseText = ({ release }) => (release === 'force' ? 'Force release' : 'Release');

/** @param {string} one @param {string} other */
const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** A search looks into it at every key stroke, so it is made once. @type {WeakMap<ShownLock, string>} */
const searchTexts = new WeakMap();

/** @param {ShownLock} lock */
function searchText(lock) {
  const known = searchTexts.get(lock);
  if (known !== undefined) return known;
  const text = `${lock.path}\n${lock.owner}\n${lock.origin ?? ''}\n${lock.note ?? ''}`.toLowerCase();
  searchTexts.set(lock, text);
  return text;
}

/**
 * Those that have every word of the search in their path, holder, note or run, whatever the case of its letters.
 * @param {readonly ShownLock[]} locks
 * @param {Pick<ListQuery, 'search' | 'path'>} query
 */
export function matching(locks, { search, path }) {
  const words = search.normalize('NFC').toLowerCase().split(/\s+/);
  return locks.filter(
    (lock) => (path === '' || lock.path === path) && words.every((word) => searchText(lock).includes(word)),
  );
}

/** @param {readonly ShownLock[]} locks @param {Pick<ListQuery, 'by' | 'descending' | 'group'>} query */
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
 * @param {readonly ShownLock[]} locks in their order
 * @param {boolean} group
 * @param {ReadonlySet<string>} folded folders of which only the name is shown
 * @returns {Row[]}
 */
export function rowsOf(locks, group, folded) {
  if (!group) return locks.map((lock) => ({ kind: 'lock', key: lock.id, lock }));
  /** @type {Row[]} */
  const rows = [];
  /** @type {Extract<Row, { kind: 'folder' }> | undefined} */
  let current;
  for (const lock of locks) {
    const folder = folderOf(lock.path);
    if (current?.folder !== folder) {
      // No id of a lock ends in a slash or is empty, as every folder does or is.
      current = { kind: 'folder', key: folder, folder, count: 0 };
      rows.push(current);
    }
    current.count += 1;
    if (!folded.has(folder)) rows.push({ kind: 'lock', key: lock.id, lock });
  }
  return rows;
}

/** `left`, or `-left` for the reverse. @param {string} text @returns {Sort} */
export function parseSort(text) {
  const descending = text.startsWith('-');
  const by = sortKeys.find((key) => key === text.slice(descending ? 1 : 0));
  return by === undefined ? { by: 'path', descending: false } : { by, descending };
}

/** @param {Sort} sort */
export const sortText = ({ by, descending }) => `${descending ? '-' : ''}${by}`;

/** Each of its words is looked for in each of the locks. */
const maxSearchLength = 256;

export const queryNames = /** @type {const} */ (['search', 'sort', 'group', 'path', 'page']);

/**
 * What it does not understand is as if it were not there: an address is also typed and shortened by people.
 * @param {URLSearchParams} parameters
 * @returns {ListQuery}
 */
export function parseListQuery(parameters) {
  /** @param {typeof queryNames[number]} name */
  const text = (name) => parameters.get(name) ?? '';
  return {
    search: text('search').slice(0, maxSearchLength).trim(),
    ...parseSort(text('sort')),
    group: text('group') === 'folder',
    path: text('path'),
    page: /^[1-9]\d{0,5}$/.test(text('page')) ? Number(text('page')) : 1,
  };
}

/**
 * The address that shows this, with no more than what differs from the whole list.
 * @param {string} workspace
 * @param {Partial<ListQuery>} query
 */
export function listAddress(
  workspace,
  { search = '', by = 'path', descending = false, group = false, path = '', page = 1 } = {},
) {
  const parameters = new URLSearchParams();
  if (search.trim() !== '') parameters.set('search', search.trim());
  if (by !== 'path' || descending) parameters.set('sort', sortText({ by, descending }));
  if (group) parameters.set('group', 'folder');
  if (path !== '') parameters.set('path', path);
  if (page > 1) parameters.set('page', String(page));
  return `/workspaces/${workspace}/locks${parameters.size === 0 ? '' : `?${parameters}`}`;
}

/** The page of a path, which is one segment of the address, as in the API. @param {string} workspace @param {string} path */
export const pathAddress = (workspace, path) => `/workspaces/${workspace}/paths/${encodeURIComponent(path)}`;

/** @typedef {Pick<ShownLock, 'path' | 'id'>} OneLock */

/** Where something is done to exactly the lock with this id. @param {string} what @param {string} workspace @param {OneLock} lock */
const addressOfLock = (what, workspace, { path, id }) =>
  `/workspaces/${workspace}/locks/${what}?${new URLSearchParams({ path, lock: id })}`;

/** After a confirmation. @param {string} workspace @param {OneLock} lock */
export const releaseAddress = (workspace, lock) => addressOfLock('release', workspace, lock);

/** @param {string} workspace @param {OneLock} lock */
export const extendAddress = (workspace, lock) => addressOfLock('extend', workspace, lock);

/** The locks of the signed-in person, in all workspaces. */
export const ownLocksAddress = '/my-locks';
