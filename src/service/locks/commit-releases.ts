import { randomUUID } from 'node:crypto';
import type { Broadcast, Database, Storage } from '../storage/storage.ts';
import { type ReleaseDecision, type ReleaseRequest, releaseLocks } from './release.ts';
import type { LinePath } from './waits.ts';

export type CommitReleases = ReturnType<typeof createCommitReleases>;

export type ReleaseWithin = (requests: readonly ReleaseRequest[]) => Promise<readonly ReleaseDecision[]>;

/** For CLI commands: their process has no waiting clients, so they notify the services that share the database. */
export function commitReleasesOf(storage: Storage): CommitReleases {
  const { send } = createLineBroadcast(storage.broadcast);
  return createCommitReleases(storage, async (released) => void (await Promise.all(released.map(send))));
}

/** Releases locks in a transaction that may make other changes, too. After the commit, waiting clients are notified. */
export function createCommitReleases(
  { commit, now }: Pick<Storage, 'commit' | 'now'>,
  onReleased: (locks: readonly LinePath[]) => Promise<void>,
) {
  return async <T>(workspace: string, work: (db: Database, release: ReleaseWithin) => Promise<T>): Promise<T> => {
    const released = new Map<string, LinePath>();
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

/** Broadcasts releases, and changes of lines, among instances and commands on the same database: none must poll. */
export function createLineBroadcast(broadcast: Broadcast) {
  const own = randomUUID();
  return {
    /** Fulfilled when the message was sent, or sending failed. Only the path may contain spaces, so it comes last. */
    send: ({ workspace, path }: LinePath): Promise<void> => broadcast.send(`${own} ${workspace} ${path}`),
    sendAny: (): Promise<void> => broadcast.send(own),
    /** Calls back with each change by others, or with undefined if anything may have changed. Returns how to stop. */
    listen: (onChange: (line: LinePath | undefined) => void) =>
      broadcast.listen((message = '') => {
        // Another user of the database may send other messages.
        const [, from, workspace = '', path] = /^(\S+) (\S+) (.+)$/.exec(message) ?? [];
        // This instance already handles its own changes.
        if (from !== own) onChange(path === undefined ? undefined : { workspace, path });
      }),
  };
}
