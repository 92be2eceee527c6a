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

/** More paths are looked up in the list of all locks. */
const maxSinglePaths = 8;

/** The locks on these paths. */
export async function listOnPaths(
  client: Lists,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: CallLimits,
): Promise<List<KnownLock>> {
  const found = new Map<string, KnownLock>();
  let incomplete: string | undefined;
  const list = async (filter: LockFilter): Promise<readonly KnownLock[]> => {
    const { items, incomplete: reason } = await client.listLocks({ workspace, filter }, within);
    incomplete ??= reason;
    return items;
  };
  // Where case does not matter, the lock on a path may have it in another case.
  const addLockOn = async (path: LockPath): Promise<void> => {
    for (const lock of await list({ path })) found.set(lock.path, lock);
  };

  const distinct = new Set<string>(paths);
  if (distinct.size <= maxSinglePaths) await inParallel([...new Set(paths)], addLockOn);
  else {
    const items = await list({});
    for (const lock of items) if (distinct.has(lock.path)) found.set(lock.path, lock);
    const folded = new Set(items.map(({ path }) => path.toLowerCase()));
    await inParallel(
      [...new Set(paths)].filter((path) => !found.has(path) && folded.has(path.toLowerCase())),
      addLockOn,
    );
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

/**
 * A service may allow a token to acquire and release locks, but not to list them. The refusal of a gateway does not
 * show that.
 */
const refusesLists = ({ failure }: ServiceError): boolean =>
  failure.kind === 'refused' && failure.isRecognized && [403, 405, 501].includes(failure.status);
