import { randomUUID } from 'node:crypto';
import type { QueuePosition } from '../../interface/problem.ts';
import type { KeyedRequest } from '../idempotency/idempotency.ts';
import type { Storage } from '../storage/storage.ts';
import type { LinePath } from './find.ts';
import { placeInLine } from './queue.ts';
import type { Place, TakeDecision } from './take.ts';
import type { LockWaiters, Wait, WaitOutcome, WatchedPath } from './waiters.ts';
import { keepPresent, presenceMs, requestGapMs, type Urgency } from './waits.ts';

/** How a client waits (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  readonly urgency: Urgency;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission meanwhile. */
  readonly authenticate: () => Promise<unknown>;
}

/** One with watched paths may be different at the turn of the client. */
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
  /** A quota has refused a request. */
  readonly onExceeded: () => void;
  readonly onError: (error: unknown) => void;
}

interface Leaving extends Pick<Wait, 'id' | 'workspace'>, Pick<Place, 'requestId' | 'presentMs'> {}

export type WaitInLine = ReturnType<typeof createWaitInLine>;

export function createWaitInLine({ storage, waiters, onExceeded, onError }: WaitInLineOptions) {
  const { now } = storage;

  /** Attempts once, or with options again at each turn of the client, until a decision stands or the wait ends. */
  async function decide<Decided extends Decision>(
    client: Pick<Wait, 'id' | 'workspace' | 'owner'>,
    options: WaitOptions | undefined,
    attemptOnce: (place?: Place) => Promise<Decided>,
  ): Promise<Waited<Decided>> {
    async function attempt(place?: Place): Promise<Decided> {
      const decided = await attemptOnce(place);
      if (decided.kind === 'exceeded') onExceeded();
      return decided;
    }
    if (options === undefined) return attempt();
    const { seconds, urgency, gone, authenticate } = options;
    const deadline = performance.now() + seconds * 1_000;
    const requestId = randomUUID();
    const place = { requestId, urgency, presentMs: seconds > 0 ? presenceMs : requestGapMs };
    let last = await attempt({ ...place, isFirst: true });
    let waitedSeconds: number | undefined = seconds;
    while (last.watched !== undefined && seconds > 0) {
      const { watched } = last;
      const ms = Math.max(0, deadline - performance.now());
      const waiting = waiters.wait({ ...client, requestId, gone, ms, watched });
      const outcome = (await waiting) ?? 'timeout';
      if (outcome !== 'turn') {
        await leave({ ...client, requestId }, outcome);
        // Too many clients wait already: without the header, the client knows that nobody waited.
        if (waiting === undefined) waitedSeconds = undefined;
        break;
      }
      try {
        await authenticate();
        last = await attempt({ ...place, isFirst: false });
      } catch (error) {
        await leave({ ...client, requestId }, 'gone');
        throw error;
      }
      // Others must not wait for a client whose request is refused.
      if (last.watched === undefined && last.kind !== 'granted') await leave({ ...client, requestId }, 'gone');
    }
    const queue = last.watched && (await placeInLine(storage, client.id));
    return { ...last, waitedSeconds, queue };
  }

  /** The waits of a thousand clients may end at the same time. */
  const leaveAll = storage.batchCommits(
    ({ workspace }: Leaving) => ({ workspace }),
    async (db, leaving) => {
      await keepPresent(db, now, leaving);
      return leaving.map(() => undefined);
    },
  );

  /** The others look again within requestGapMs, also at a path that was kept for this client: see lookAgainMs(). */
  async function leave({ workspace, id, requestId }: Omit<Leaving, 'presentMs'>, outcome: WaitOutcome): Promise<void> {
    // This instance stops, and the client will ask another one.
    if (outcome === 'stopped') return;
    const presentMs = outcome === 'gone' ? 0 : requestGapMs;
    await leaveAll({ workspace, id, requestId, presentMs }).catch(onError);
  }

  type Placed = ReturnType<typeof waiters.placed>;

  async function keepAllOf(workspace: string, clients: Placed): Promise<void> {
    const present = clients.map(({ id, requestId }) => ({ id, requestId, presentMs: presenceMs }));
    const kept = await storage.commit({ workspace }, (db) => keepPresent(db, now, present));
    const newest = new Set(kept.map(({ id }) => id));
    // It was granted or ended elsewhere, or asked for again: the next attempt tells.
    for (const { id, wake } of clients) if (!newest.has(id)) wake();
  }

  /** Workspaces whose clients are being kept present. */
  const running = new Set<string>();

  /** Called periodically: others wait for the clients that wait here. A blocked workspace does not delay the others. */
  async function keepAllPresent(): Promise<void> {
    const byWorkspace = [...Map.groupBy(waiters.placed(), (client) => client.workspace)];
    const due = byWorkspace.filter(([workspace]) => !running.has(workspace));
    await Promise.all(
      due.map(async ([workspace, clients]) => {
        running.add(workspace);
        await keepAllOf(workspace, clients)
          .catch(onError)
          .finally(() => running.delete(workspace));
      }),
    );
  }

  return { decide, keepPresent: keepAllPresent };
}

/**
 * A client that is not granted the lock asks again with a new key. Keys that differ only after their last slash name one
 * place in the line of a path. No key contains a space, and no other wait has this word second: see waitIdOf().
 */
export const placeOf = ({ tokenId, key }: KeyedRequest, { path }: LinePath): string =>
  `${tokenId} lock ${key.replace(/(?<=.)\/[^/]*$/, '')} ${path}`;
