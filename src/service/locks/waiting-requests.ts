import { randomUUID } from 'node:crypto';
import type { QueuePosition } from '../../interface/problem.ts';
import type { Storage } from '../storage/storage.ts';
import type { LockWaiters, LockWaitersOptions, Wait, WatchedPath } from './local-waiters.ts';
import { placeInLine } from './queue.ts';
import { presenceMs, requestGapMs } from './wait-terms.ts';
import { extendPresence } from './waits.ts';

/** Requests that wait at this instance: at their place in line, or, without one, until a path is free. */

/** Tells the waiting clients of all instances that locks on these paths, or their lines, have changed. */
export type OnChange = (workspace: string, paths: readonly string[]) => void;

/** How a client waits (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  readonly urgency: number;
  /** Aborted when the client has disconnected: it gets no lock. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission meanwhile. */
  readonly authenticate: () => Promise<unknown>;
}

/** The place of a request in line. */
export interface Place extends Pick<WaitOptions, 'urgency' | 'gone'> {
  readonly requestId: string;
  /** Whether the request has not been in line yet. Afterwards, it is decided only if it is the newest of its client. */
  readonly isFirst: boolean;
  readonly presentMs: number;
}

/** If it has watched paths, it may change when one of them does. */
interface Decision {
  readonly kind: string;
  readonly watched?: readonly WatchedPath[];
}

export type Waited<Decided> = Decided & {
  /** The preferred wait, if it was applied. */
  readonly waitedSeconds?: number | undefined;
  /** The place of a request that is still in line. */
  readonly queue?: QueuePosition | undefined;
};

interface WaitInLineOptions extends Pick<LockWaitersOptions, 'onError'> {
  readonly storage: Pick<Storage, 'commit' | 'batchCommits' | 'read'>;
  readonly waiters: LockWaiters;
}

export type WaitInLine = ReturnType<typeof createWaitInLine>;

export function createWaitInLine({ storage, waiters, onError }: WaitInLineOptions) {
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
    // It may have disconnected after it had joined the line.
    if (last.kind === 'refused' && gone.aborted) await leave(0);
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
    ({ workspace }: Pick<Wait, 'id' | 'workspace' | 'requestId'> & Pick<Place, 'presentMs'>) => ({ workspace }),
    async (db, leaving) => {
      await extendPresence(db, leaving);
      return leaving.map(() => undefined);
    },
  );

  /** Workspaces whose clients are being kept present. */
  const running = new Set<string>();

  /** Called periodically: others wait for the clients that wait here. A blocked workspace does not delay the others. */
  async function keepPresent(): Promise<void> {
    const byWorkspace = [...Map.groupBy(waiters.placed(), (client) => client.workspace)];
    const due = byWorkspace.filter(([workspace]) => !running.has(workspace));
    await Promise.all(
      due.map(async ([workspace, clients]) => {
        running.add(workspace);
        try {
          const present = clients.map(({ id, requestId }) => ({ id, requestId, presentMs: presenceMs }));
          const kept = await storage.commit({ workspace }, (db) => extendPresence(db, present));
          const newest = new Set<string | undefined>(kept.map(({ requestId }) => requestId));
          // It was granted or ended elsewhere, or asked for again: the next attempt tells.
          for (const { requestId, end } of clients) if (!newest.has(requestId)) end('turn');
        } catch (error) {
          onError(error);
        } finally {
          running.delete(workspace);
        }
      }),
    );
  }

  return { acquire, keepPresent };
}
