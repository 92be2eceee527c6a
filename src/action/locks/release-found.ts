import {
  type Client,
  type KnownLock,
  type List,
  type ReleaseResult,
  ServiceError,
  type Within,
  type WorkspaceId,
} from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { compare } from './ownership.ts';
import { mayBeDone, refusesLists } from './release-one.ts';

/** What a list says of a path. */
export type Found =
  | { readonly kind: 'locked'; readonly lock: KnownLock }
  | { readonly kind: 'absent' }
  /** The token may not list, or the list is not whole. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: ServiceError };

export async function findIn(list: Promise<List<KnownLock>>): Promise<(path: LockPath) => Found> {
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
    const found: Found = refusesLists(error) ? { kind: 'unknown' } : { kind: 'failed', error };
    return () => found;
  }
}

export interface FoundToRelease {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly found: Exclude<Found, { readonly kind: 'failed' }>;
  /** Asks the service to release the lock of another owner, too. */
  readonly force: boolean;
}

/** Whether a request can be repeated, because it says which lock it is about. */
export const isProven = (found: Found): boolean =>
  found.kind === 'locked' && (found.lock.etag ?? found.lock.id) !== undefined;

export type FoundRelease =
  | ReleaseResult
  /** It was sent, and neither its answer nor a second look tells what came of it. */
  | { readonly kind: 'unclear'; readonly error: ServiceError };

/** What a release that was sent once, and whose answer was lost, has done: told by what is on the path now. */
function judgeByLook(before: Found, now: Found, error: ServiceError): FoundRelease {
  if (before.kind !== 'locked') return { kind: 'unclear', error };
  if (now.kind === 'absent') return { kind: 'released' };
  if (now.kind !== 'locked') return { kind: 'unclear', error };
  switch (compare(before.lock, now.lock).kind) {
    case 'lost':
      return { kind: 'released' };
    case 'ours':
      return { kind: 'failed', error };
    case 'gone':
    case 'unknown':
      return { kind: 'unclear', error };
  }
}

/**
 * Releases the lock that was found, and no later one. Where neither ETag nor id tells them apart it is sent once: its
 * answer may get lost, and the path be somebody else's by the time of a second attempt.
 */
export async function releaseFound(
  client: Client,
  { workspace, path, found, force }: FoundToRelease,
  within: Within,
): Promise<FoundRelease> {
  if (found.kind === 'absent') return found;
  if (found.kind === 'locked' && isProven(found)) {
    return client.releaseLock({ workspace, path, proof: found.lock, force }, within);
  }
  const release = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
  if (release.kind !== 'failed' || !mayBeDone(release.error)) return release;
  const find = await findIn(client.listLocks({ workspace, filter: { path } }, within));
  return judgeByLook(found, find(path), release.error);
}
