import { randomUUID } from 'node:crypto';
import type { QueuePosition } from '../../interface/problem.ts';
import type { KeyedRequest } from '../idempotency/idempotency.ts';
import type { Storage } from '../storage/storage.ts';
import type { LockKey } from './find.ts';
import { placeInLine } from './queue.ts';
import type { Place, TakeDecision } from './take.ts';
import type { LockWaiters, Wait, WatchedPath } from './waiters.ts';
import { extendPresence, presenceMs, requestGapMs } from './waits.ts';

/** How a client waits (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  readonly urgency: number;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission meanwhile. */
  readonly authenticate: () => Promise<unknown>;
}

/** If it has watched paths, it may change when one of them does. */
interface Decision {
  readonly kind: TakeDecision['kind'];
  readonly watched?: readonly WatchedPath[];
}

export type Waited<Decided> = Decided & {
  /** The preferred wait, if it was applied. */
  readonly waitedSeconds?: number | undefined;
  /** The place of a request that is still in line. */
  readonly queue?: QueuePosition | undefined;
};

interface WaitInLineOptions {
  readonly storage: Pick<Storage, 'commit' | 'batchCommits' | 'read' | 'now'>;
  readonly waiters: LockWaiters;
  readonly onError: (error: unknown) => void;
}

interface Leaving extends Pick<Wait, 'id' | 'workspace'> {
  readonly requestId: string;
  readonly presentMs: number;
}

export type WaitInLine = ReturnType<typeof createWaitInLine>;

export function createWaitInLine({ storage, waiters, onError }: WaitInLineOptions) {
  const { now } = storage;

  /** Attempts once, or with options again at each turn of the client, until a decision stands or the wait ends. */
  async function acquire<Decided extends Decision>(
    client: Pick<Wait, 'id' | 'workspace' | 'owner'>,
    options: WaitOptions | undefined,
    attempt: (place?: Place) => Promise<Decided>,
  ): Promise<Waited<Decided>> {
    if (options === undefined) return attempt();
    const { seconds, urgency, gone, authenticate } = options;
    const deadline = performance.now() + seconds * 1_000;
    const requestId = randomUUID();
    const place = { requestId, urgency, gone, presentMs: seconds > 0 ? presenceMs : requestGapMs };
    // The others look again within requestGapMs, even at a path that was kept for this client: see lookAgainMs().
    const leave = (presentMs: number) => leaveAll({ ...client, requestId, presentMs }).catch(onError);
    let last = await attempt({ ...place, isFirst: true });
    let waitedSeconds: number | undefined = seconds;
    while (last.watched !== undefined && seconds > 0) {
      const { watched } = last;
      const ms = Math.max(0, deadline - performance.now());
      const outcome = await waiters.wait({ ...client, requestId, gone, ms, watched });
      // Too many clients wait already: without the header, the client knows that nobody waited.
      if (outcome === undefined) waitedSeconds = undefined;
      if (outcome !== 'turn') {
        // When this instance stops, the client asks another one.
        if (outcome !== 'stopped') await leave(outcome === 'gone' ? 0 : requestGapMs);
        break;
      }
      try {
        await authenticate();
        last = await attempt({ ...place, isFirst: false });
      } catch (error) {
        await leave(0);
        throw error;
      }
      // Others must not wait for a client whose request is refused.
      if (last.watched === undefined && last.kind !== 'granted') await leave(0);
    }
    const queue = last.watched && (await placeInLine(storage, client.id));
    return { ...last, waitedSeconds, queue };
  }

  /** The waits of a thousand clients may end at the same time. */
  const leaveAll = storage.batchCommits(
    ({ workspace }: Leaving) => ({ workspace }),
    async (db, leaving) => {
      await extendPresence(db, now, leaving);
      return leaving.map(() => undefined);
    },
  );

  type Placed = ReturnType<typeof waiters.placed>;

  async function keepPresentIn(workspace: string, clients: Placed): Promise<void> {
    const present = clients.map(({ id, requestId }) => ({ id, requestId, presentMs: presenceMs }));
    const kept = await storage.commit({ workspace }, (db) => extendPresence(db, now, present));
    const newest = new Set<string | undefined>(kept.map(({ requestId }) => requestId));
    // It was granted or ended elsewhere, or asked for again: the next attempt tells.
    for (const { requestId, end } of clients) if (!newest.has(requestId)) end('turn');
  }

  /** Workspaces whose clients are being kept present. */
  const running = new Set<string>();

  /** Called periodically: others wait for the clients that wait here. A blocked workspace does not delay the others. */
  async function keepPresent(): Promise<void> {
    const byWorkspace = [...Map.groupBy(waiters.placed(), (client) => client.workspace)];
    const due = byWorkspace.filter(([workspace]) => !running.has(workspace));
    await Promise.all(
      due.map(async ([workspace, clients]) => {
        running.add(workspace);
        await keepPresentIn(workspace, clients)
          .catch(onError)
          .finally(() => running.delete(workspace));
      }),
    );
  }

  return { acquire, keepPresent };
}

/**
 * The ids of waits. Their second words keep them apart: neither a workspace, a token, a key nor the id of a lease has a
 * space.
 */
export const waitIds = {
  /**
   * A client that is not granted the lock asks again with a new key. Keys that differ only after their last slash name one
   * place in the line of a path.
   */
  ofRequest: (keyed: KeyedRequest | undefined, { workspace, path }: LockKey): string =>
    keyed === undefined
      ? `${workspace} lock ${randomUUID()}`
      : `${workspace} lock ${keyed.tokenId} ${keyed.key.replace(/(?<=.)\/[^/]*$/, '')} ${path}`,
  ofLease: ({ workspace, id }: Readonly<Record<'workspace' | 'id', string>>): string => `${workspace} lease ${id}`,
  ofPerson: (tokenId: string, { workspace, path }: LockKey): string => `${workspace} ask ${tokenId} ${path}`,
};
