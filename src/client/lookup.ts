import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { inParallel } from './in-parallel.ts';
import type { FoundLock, KnownLock } from './known-lock.ts';
import { createLists, isSameFile, type ListLocks, type LockFilter } from './lists.ts';
import type { List } from './pages.ts';
import type { CallLimits, ClientContext, Request } from './request.ts';
import { ServiceError } from './service-error.ts';

interface Lists {
  readonly listLocks: ListLocks;
}

/** The smallest list with all of these paths: of one path, of their common folder, or of the workspace. */
interface LookupQuery {
  readonly paths: readonly LockPath[];
  /** Empty for the complete workspace. */
  readonly folder: string;
  readonly filter: LockFilter;
  /** If the list has more pages, other queries take less time. */
  readonly maxPages: number;
}

/** The locks on these paths, with as few requests as possible. */
export async function listOnPaths(
  client: Lists,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: CallLimits,
): Promise<List<KnownLock>> {
  const found = new Map<string, KnownLock>();
  let incomplete: string | undefined;
  /** Set if the service does not support filters: another query would return the same list. */
  let wholeList: Promise<List<KnownLock>> | undefined;
  let next: readonly LookupQuery[] = [];

  function addLocks(asked: readonly LockPath[], list: List<KnownLock>): void {
    const wanted: ReadonlySet<string> = new Set(asked);
    for (const lock of list.items) if (wanted.has(lock.path)) found.set(lock.path, lock);
    incomplete ??= list.incomplete;
  }

  async function runQuery({ paths: asked, folder, filter, maxPages }: LookupQuery): Promise<void> {
    if (wholeList !== undefined) return addLocks(asked, await wholeList);
    const list = await client.listLocks({ workspace, filter, maxPages }, within);
    // The lock on a path may have it in other case.
    if (filter.path !== undefined && list.incomplete === undefined && list.isFiltered) {
      for (const lock of list.items) found.set(lock.path, lock);
      return;
    }
    if (list.incomplete === undefined) {
      addLocks(asked, list);
      if (list.isFiltered) next = [...next, ...queriesInOtherCase(asked, list.items)];
      return;
    }
    if (!list.isFiltered) {
      wholeList ??= client.listLocks({ workspace }, within);
      return addLocks(asked, await wholeList);
    }
    if (filter.path !== undefined) return addLocks(asked, await client.listLocks({ workspace, filter }, within));
    const locked: ReadonlySet<string> = new Set(list.items.map(({ path }) => path));
    const listed = asked.filter((path) => locked.has(path));
    addLocks(listed, { items: list.items, incomplete: undefined });
    const missing = asked.filter((path) => !locked.has(path));
    next = [...next, ...queriesBelow(folder, missing)];
  }

  let queries = queriesOn(paths);
  while (queries.length > 0) {
    next = [];
    await inParallel(queries, runQuery);
    queries = next;
  }
  return { items: [...found.values()], incomplete };
}

export type LookupResult =
  | FoundLock
  /** The token may not list locks, or the list is incomplete. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: ServiceError };

interface PathToLookUp {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly attempts?: Request['attempts'];
}

export async function lookUp(
  client: Lists,
  { workspace, path, attempts }: PathToLookUp,
  within: CallLimits,
): Promise<LookupResult> {
  const list = client.listLocks({ workspace, filter: { path }, attempts }, within);
  return (await lookupIn(list, (lock) => (isSameFile(lock.path, path) ? path : lock.path)))(path);
}

export const lookUpOnce = (
  context: ClientContext,
  { workspace, path }: PathToLookUp,
  within: CallLimits,
): Promise<LookupResult> => lookUp(createLists(context), { workspace, path, attempts: 'once' }, within);

/** This many parallel requests for single paths take as long as one page of a list. */
const singleRequestsPerPage = 8;

/**
 * The first queries: one list for the common folder of the paths, in pages of a thousand locks. 5,000 locks in one
 * folder take five pages, and 50 locks in 50 subfolders of one folder a single page, if others hold few locks there. A
 * list ends once it has cost as much as a request for each path. The remaining paths are then queried by subfolder.
 */
export function queriesOn(paths: readonly LockPath[]): readonly LookupQuery[] {
  const distinct = [...new Set(paths)];
  if (distinct.length === 0) return [];
  const query = queryOn(distinct);
  // For a few paths, a list of the complete workspace is not worth it.
  return query.folder === '' && distinct.length <= singleRequestsPerPage ? queriesBelow('', distinct) : [query];
}

/** The queries by direct subfolder of this folder. A path without others in its subfolder gets a query of its own. */
export function queriesBelow(folder: string, paths: readonly LockPath[]): readonly LookupQuery[] {
  const groups = Map.groupBy(paths, (path) => {
    const slash = path.indexOf('/', folder.length);
    return slash === -1 ? path : path.slice(0, slash + 1);
  });
  return [...groups.values()].map(queryOn);
}

/** Where case does not matter, the lock on a path may have it in another case: only a query for the path shows that. */
function queriesInOtherCase(paths: readonly LockPath[], locks: readonly KnownLock[]): readonly LookupQuery[] {
  const locked: ReadonlySet<string> = new Set(locks.map(({ path }) => path));
  const folded = new Set(locks.map(({ path }) => path.toLowerCase()));
  if (paths.length < 2) return [];
  return paths.filter((path) => !locked.has(path) && folded.has(path.toLowerCase())).map((path) => queryOn([path]));
}

/** Looks paths up in a list. A ServiceError becomes the result for every path. */
export async function lookupIn(
  list: Promise<List<KnownLock>>,
  pathOf: (lock: KnownLock) => string = ({ path }) => path,
): Promise<(path: LockPath) => LookupResult> {
  try {
    const { items, incomplete } = await list;
    const locks = new Map(items.map((lock) => [pathOf(lock), lock]));
    // A lock in another case is here only if a query for its path has found it.
    const folded = new Map(items.map((lock) => [pathOf(lock).toLowerCase(), lock]));
    return (path) => {
      const lock = locks.get(path) ?? folded.get(path.toLowerCase());
      if (lock !== undefined) return { kind: 'locked', lock };
      return incomplete === undefined ? { kind: 'absent' } : { kind: 'unknown', reason: incomplete };
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const result: LookupResult = refusesLists(error)
      ? { kind: 'unknown', reason: error.message }
      : { kind: 'failed', error };
    return () => result;
  }
}

function queryOn(paths: readonly LockPath[]): LookupQuery {
  const folder = commonFolder(paths);
  const [path, ...others] = paths;
  if (others.length === 0) return { paths, folder, filter: { path }, maxPages: 1 };
  const maxPages = Math.max(1, Math.floor(paths.length / singleRequestsPerPage));
  return { paths, folder, filter: folder === '' ? {} : { prefix: folder }, maxPages };
}

/** The innermost common folder, with a trailing slash; empty if there is none. */
export function commonFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths;
  let length = first.lastIndexOf('/') + 1;
  for (const path of others) {
    while (!path.startsWith(first.slice(0, length))) length = first.lastIndexOf('/', length - 2) + 1;
  }
  return first.slice(0, length);
}

/**
 * A service may allow a token to acquire and release locks, but not to list them. The refusal of a gateway does not
 * show that.
 */
const refusesLists = ({ failure }: ServiceError): boolean =>
  failure.kind === 'refused' && failure.isRecognized && [403, 405, 501].includes(failure.status);
