import { randomUUID } from 'node:crypto';
import type { Broadcast, Database, Storage } from '../storage/storage.ts';
import { type ReleaseDecision, type ReleaseRequest, releaseLocks } from './release.ts';
import type { ReleasedLock } from './waiters.ts';

/** Releases locks of a workspace within a transaction, which may change more. Once it is committed, waiting clients are notified. */
export type CommitReleases = <T>(
  workspace: string,
  work: (db: Database, release: ReleaseWithin) => Promise<T>,
) => Promise<T>;

export type ReleaseWithin = (requests: readonly ReleaseRequest[]) => Promise<readonly ReleaseDecision[]>;

/** For a command, whose process has no waiting clients: the services on its database are notified. */
export function commitReleasesOf(storage: Storage): CommitReleases {
  const { send } = shareReleases(storage.broadcast);
  return createCommitReleases(storage, async (released) => void (await Promise.all(released.map(send))));
}

export function createCommitReleases(
  { commit, now }: Pick<Storage, 'commit' | 'now'>,
  onReleased: (locks: readonly ReleasedLock[]) => Promise<void>,
): CommitReleases {
  return async (workspace, work) => {
    const released = new Map<string, ReleasedLock>();
    const result = await commit({ workspace }, (db) => {
      // The transaction may be repeated.
      released.clear();
      return work(db, async (requests) => {
        const decisions = await releaseLocks(db, now, requests);
        for (const decision of decisions) {
          if (decision.kind === 'released') released.set(decision.lock.id, { workspace, ...decision.lock });
        }
        return decisions;
      });
    });
    if (released.size > 0) await onReleased([...released.values()]);
    return result;
  };
}

/** Tells instances and commands on the same database of each other's releases, so that none has to look for them. */
export function shareReleases(broadcast: Broadcast) {
  const own = randomUUID();
  return {
    /** Fulfilled when it has been sent, or could not be. Only the path may have spaces, and it comes last. */
    send: ({ id, workspace, path }: ReleasedLock): Promise<void> => broadcast.send(`${own} ${id} ${workspace} ${path}`),
    /** Calls back with what others release, or with undefined when that may be anything; gives what ends that. */
    listen: (onRelease: (lock: ReleasedLock | undefined) => void) =>
      broadcast.listen((message = '') => {
        // Another version, or anybody else on the database, may have sent something else.
        const [, from, id = '', workspace = '', path] = /^(\S+) (\S+) (\S+) (.+)$/.exec(message) ?? [];
        // This instance handles its own.
        if (from !== own) onRelease(path === undefined ? undefined : { id, workspace, path });
      }),
  };
}
