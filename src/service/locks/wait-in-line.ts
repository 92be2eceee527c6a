import { randomUUID } from 'node:crypto';
import type { Database, Storage } from '../storage/storage.ts';
import type { LockWaiters, Wait, WatchedPath } from './local-waiters.ts';
import { placeInLine } from './queue.ts';
import type { LockRequest } from './store-locks.ts';
import { type Place, presenceMs, requestGapMs, type Waited, type WaitOptions } from './wait-terms.ts';
import { extendPresence } from './waits.ts';

export type WaitInLine = ReturnType<typeof createWaitInLine>;

/** Waits of clients in line at this instance. */
export function createWaitInLine(read: Database, { wait }: Pick<LockWaiters, 'wait'>, presence: Presence) {
  /** Attempts once, or with options at each turn of the client, until the decision is final or the wait ends. */
  return async function inLine<Decision extends { readonly kind: string; readonly watched?: readonly WatchedPath[] }>(
    id: string,
    { workspace, bearer: { owner } }: Pick<LockRequest, 'workspace' | 'bearer'>,
    options: WaitOptions | undefined,
    attempt: (place?: Place) => Promise<Decision>,
  ): Promise<Waited<Decision>> {
    if (options === undefined) return attempt();
    const { seconds, urgency, gone, authenticate } = options;
    const deadline = performance.now() + seconds * 1_000;
    const requestId = randomUUID();
    const client = { id, workspace, owner, requestId, gone };
    const place = { requestId, urgency, gone, presentMs: seconds > 0 ? presenceMs : requestGapMs };
    // Others look again within requestGapMs, even at a path that was kept for this client: see lookAgainMs().
    const leave = (presentMs: number): Promise<void> => presence.leave({ ...client, presentMs });
    async function decide(isFirst: boolean): Promise<Decision> {
      try {
        if (!isFirst) await authenticate();
        return await attempt({ ...place, isFirst });
      } catch (error) {
        // Others must not wait for a client that was refused at its turn, or disconnected after it joined the line.
        if (!isFirst || gone.aborted) await leave(0);
        throw error;
      }
    }
    let last = await decide(true);
    let waitedSeconds: number | undefined = seconds;
    while (last.watched !== undefined && seconds > 0) {
      const ms = Math.max(0, deadline - performance.now());
      const outcome = await wait({ ...client, ms, watched: last.watched });
      // Too many clients are waiting. A response without `Preference-Applied` tells the client that it did not wait.
      if (outcome === undefined) waitedSeconds = undefined;
      if (outcome !== 'turn') {
        // When this instance stops, the client retries at another one.
        if (outcome !== 'stopped') await leave(outcome === 'gone' ? 0 : requestGapMs);
        break;
      }
      last = await decide(false);
    }
    const queue = last.watched && (await placeInLine(read, id));
    return { ...last, waitedSeconds, queue };
  };
}

export type Presence = ReturnType<typeof createPresence>;

/** A client that others wait for only `presentMs` longer. */
type Leaving = Pick<Wait, 'id' | 'workspace'> & Pick<Place, 'requestId' | 'presentMs'>;

/** How long others wait for the clients in line at this instance. */
export function createPresence(
  { commit, batchCommits }: Pick<Storage, 'commit' | 'batchCommits'>,
  placed: LockWaiters['placed'],
  onError: (error: unknown) => void,
) {
  /** Batched, because the waits of a thousand clients may end at the same time. */
  const commitPresence = batchCommits(
    ({ workspace }: Leaving) => ({ workspace }),
    async (db, leaving) => {
      await extendPresence(db, leaving);
      return leaving.map(() => undefined);
    },
  );

  /** Workspaces with an update of their presence in progress. */
  const keeping = new Set<string>();

  async function keepPresentIn(workspace: string, clients: ReturnType<typeof placed>): Promise<void> {
    keeping.add(workspace);
    try {
      const present = clients.map(({ id, requestId }) => ({ id, requestId, presentMs: presenceMs }));
      const kept = await commit({ workspace }, (db) => extendPresence(db, present));
      const newest = new Set<string | undefined>(kept.map(({ requestId }) => requestId));
      // The wait was granted or ended elsewhere, or has a newer request: the next attempt finds out which.
      for (const { requestId, end } of clients) if (!newest.has(requestId)) end('turn');
    } catch (error) {
      onError(error);
    } finally {
      keeping.delete(workspace);
    }
  }

  return {
    leave: (client: Leaving): Promise<void> => commitPresence(client).catch(onError),
    /** A slow workspace does not delay the rest. */
    async keep(): Promise<void> {
      const byWorkspace = [...Map.groupBy(placed(), (client) => client.workspace)];
      const due = byWorkspace.filter(([workspace]) => !keeping.has(workspace));
      await Promise.all(due.map(([workspace, clients]) => keepPresentIn(workspace, clients)));
    },
  };
}
