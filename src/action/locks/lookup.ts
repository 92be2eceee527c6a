import {
  type Client,
  type KnownLock,
  type List,
  ServiceError,
  type Within,
  type WorkspaceId,
} from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';

/** For more paths than this, one list takes less time than one request each. */
const maxSingleRequests = 8;

/** The innermost common folder, with its slash; empty if there is none. */
export function commonFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths;
  let length = first.lastIndexOf('/') + 1;
  for (const path of others) {
    while (!path.startsWith(first.slice(0, length))) length = first.lastIndexOf('/', length - 2) + 1;
  }
  return first.slice(0, length);
}

/** The locks on these paths, from one list of the folder they are in. */
export async function listTogether(
  client: Client,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: Within,
): Promise<List<KnownLock>> {
  const wanted: ReadonlySet<string> = new Set(paths);
  const prefix = commonFolder(paths);
  const filter = prefix === '' ? {} : { prefix };
  const { items, incomplete } = await client.listLocks({ workspace, filter }, within);
  return { items: items.filter(({ path }) => wanted.has(path)), incomplete };
}

/** The locks on these paths, with as few requests as that takes. */
export async function listOnPaths(
  client: Client,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: Within,
): Promise<List<KnownLock>> {
  if (paths.length > maxSingleRequests) return listTogether(client, workspace, paths, within);
  const lists = await Promise.all(paths.map((path) => client.listLocks({ workspace, filter: { path } }, within)));
  return {
    items: lists.flatMap(({ items }) => items),
    incomplete: lists.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
  };
}

/** What a list says of a path. */
export type LookupResult =
  | { readonly kind: 'locked'; readonly lock: KnownLock }
  | { readonly kind: 'absent' }
  /** The token may not list, or the list is not whole. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: ServiceError };

/** A service may let a token take and release locks and not list them. */
const refusesLists = ({ status = 0 }: ServiceError): boolean => [403, 404, 405, 501].includes(status);

/** Looks paths up in a list. A ServiceError becomes the result for every path. */
export async function lookupIn(list: Promise<List<KnownLock>>): Promise<(path: LockPath) => LookupResult> {
  try {
    const { items, incomplete } = await list;
    const locks = new Map(items.map((lock) => [lock.path, lock]));
    return (path) => {
      const lock = locks.get(path);
      if (lock !== undefined) return { kind: 'locked', lock };
      return { kind: incomplete === undefined ? 'absent' : 'unknown' };
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const result: LookupResult = refusesLists(error) ? { kind: 'unknown' } : { kind: 'failed', error };
    return () => result;
  }
}

export async function lookUp(
  client: Client,
  { workspace, path }: { readonly workspace: WorkspaceId; readonly path: LockPath },
  within: Within,
): Promise<LookupResult> {
  return (await lookupIn(client.listLocks({ workspace, filter: { path } }, within)))(path);
}
