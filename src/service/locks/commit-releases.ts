import { randomUUID } from 'node:crypto';
import type { Broadcast, Database, Storage } from '../storage/storage.ts';
import { type ReleaseDecision, type ReleaseRequest, releaseLocks } from './release.ts';
import type { ReleasedLock } from './waiters.ts';

/** Releases locks in a transaction that may make other changes, too. After the commit, waiting clients are notified. */
export type CommitReleases = <T>(
  workspace: string,
  work: (db: Database, release: ReleaseWithin) => Promise<T>,
) => Promise<T>;

export type ReleaseWithin = (requests: readonly ReleaseRequest[]) => Promise<readonly ReleaseDecision[]>;

/** For CLI commands: their process has no waiting clients, so they notify the services that share the database. */
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
      // The transaction may be retried.
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

/** Broadcasts releases among instances and commands on the same database, so that none must poll for them. */
export function shareReleases(broadcast: Broadcast) {
  const own = randomUUID();
  return {
    /** Fulfilled when the message was sent, or sending failed. Only the path may contain spaces, so it comes last. */
    send: ({ id, workspace, path }: ReleasedLock): Promise<void> => broadcast.send(`${own} ${id} ${workspace} ${path}`),
    /** Calls back with each release by others, or with undefined if any lock may be released. Returns how to stop. */
    listen: (onRelease: (lock: ReleasedLock | undefined) => void) =>
      broadcast.listen((message = '') => {
        // Another version of the service, or another user of the database, may send other messages.
        const [, from, id = '', workspace = '', path] = /^(\S+) (\S+) (\S+) (.+)$/.exec(message) ?? [];
        // This instance already handles its own releases.
        if (from !== own) onRelease(path === undefined ? undefined : { id, workspace, path });
      }),
  };
}
