import { randomUUID } from 'node:crypto';
import type { Broadcast } from '../storage/broadcast.ts';
import type { ReleasedLock } from './waiters.ts';

interface Message {
  /** The instance or command that sends it. */
  readonly from: string;
  readonly lock: ReleasedLock;
}

/** Only a path may have spaces, and it comes last. */
const writeMessage = ({ from, lock: { id, workspace, path } }: Message): string => `${from} ${id} ${workspace} ${path}`;

/** Undefined for what another version, or anybody else on the database, may have sent. */
function readMessage(text: string): Message | undefined {
  const [, from, id, workspace, path] = /^(\S+) (\S+) (\S+) (.+)$/.exec(text) ?? [];
  if (from === undefined || id === undefined || workspace === undefined || path === undefined) return undefined;
  return { from, lock: { id, workspace, path } };
}

export interface SharedReleases {
  /** Fulfilled when it has been sent, or could not be. */
  tell(lock: ReleasedLock): Promise<void>;
  /** Calls back with what others release, or with undefined when that may be anything; gives what ends that. */
  listen(onRelease: (lock: ReleasedLock | undefined) => void): () => void;
}

/** Tells instances and commands on the same database of each other's releases, so that none has to look for them. */
export function shareReleases(broadcast: Broadcast): SharedReleases {
  const from = randomUUID();
  return {
    tell: (lock) => broadcast.send(writeMessage({ from, lock })),
    listen: (onRelease) =>
      broadcast.listen((text) => {
        const message = text === undefined ? undefined : readMessage(text);
        // This instance knows of its own.
        if (message?.from !== from) onRelease(message?.lock);
      }),
  };
}
