import { randomUUID } from 'node:crypto';
import type { Broadcast } from '../storage/storage.ts';
import type { ReleasedLock } from './waiters.ts';

/** Tells instances and commands on the same database of each other's releases, so that none has to look for them. */
export function shareReleases(broadcast: Broadcast) {
  const own = randomUUID();
  return {
    /** Fulfilled when it has been sent, or could not be. Only the path may have spaces, and it comes last. */
    tell: ({ id, workspace, path }: ReleasedLock): Promise<void> => broadcast.send(`${own} ${id} ${workspace} ${path}`),
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
