import { randomUUID } from 'node:crypto';
import type { Ttl } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Compared } from '../../interface/resources.ts';
import type { Idempotency, KeyedRequest } from '../idempotency/idempotency.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { type AskRequest, ask, peopleInTurn, tell, withdraw } from './ask.ts';
import { type ReleaseRequest, type RenewRequest, releaseLocks, renewLocks } from './change-lock.ts';
import { type LockKey, nameOf, toLock } from './find.ts';
import { readPath } from './kept-paths.ts';
import type { LeaseKey } from './lease-store.ts';
import { endLease, type LeaseRequest, renewLease, takeLease } from './leases.ts';
import { createLockWaiters, type Wait, type WatchedPath } from './local-waiters.ts';
import { createLockQuota, type LockQuotas } from './lock-quota.ts';
import { endOfLine, placeInLine } from './queue.ts';
import { lockedRefusal, orThrow } from './refusals.ts';
import type { LockRequest } from './store-locks.ts';
import { type TakeRequest, take } from './take.ts';
import { type Place, presenceMs, requestGapMs, type Waited, type WaitOptions, waitIds } from './wait-terms.ts';
import { extendPresence } from './waits.ts';

/** If more lines than this change, one message says that any line may have changed. */
const maxNamedLines = 100;

export type Locks = ReturnType<typeof createLocks>;

interface AcquireRequest extends Omit<LockRequest, 'lease'> {
  readonly path: LockPath;
  /** Compares the file with other branches. */
  readonly compare: () => Promise<Compared>;
}

interface LocksOptions {
  readonly storage: Storage;
  readonly idempotency: Pick<Idempotency, 'idempotentBatch'>;
  readonly quotas?: Partial<LockQuotas>;
  readonly metrics: Pick<Metrics, 'lockWaiters'>;
  readonly onError: (error: unknown) => void;
}

/** The locks of one instance. Every change also notifies waiting clients. */
export function createLocks({ storage, idempotency, quotas, metrics, onError }: LocksOptions) {
  const { read, commit, batchCommits, broadcast } = storage;
  const quota = createLockQuota(quotas);

  const commitAcquire = idempotency.idempotentBatch({
    decide: (db, requests: readonly TakeRequest[]) => take(db, requests, quota),
    isDone: ({ kind }) => kind === 'granted',
  });

  const commitRenewal = idempotency.idempotentBatch({
    decide: renewLocks,
    isDone: ({ kind }) => kind === 'renewed',
  });

  const commitRelease = batchCommits(({ workspace }: ReleaseRequest) => ({ workspace }), releaseLocks);

  /** Batched, because the waits of a thousand clients may end at the same time. */
  const commitPresence = batchCommits(
    ({ workspace }: Pick<Wait, 'id' | 'workspace'> & Pick<Place, 'requestId' | 'presentMs'>) => ({ workspace }),
    async (db, leaving) => {
      await extendPresence(db, leaving);
      return leaving.map(() => undefined);
    },
  );

  const waiters = createLockWaiters({
    readPath: (key) => readPath(read, key),
    watchOthers: broadcast.listen,
    onCount: (workspace, change) => metrics.lockWaiters.inc({ workspace }, change),
    onError,
  });

  /** Notifies the waiting clients of all instances that locks on these paths, or their lines, have changed. */
  function onChange(workspace: string, paths: readonly string[]): void {
    const lines = paths.length > maxNamedLines ? [undefined] : paths.map((path) => nameOf({ workspace, path }));
    for (const line of lines) {
      waiters.changed(line);
      broadcast.send(line);
    }
  }

  /** Attempts once, or with options at each turn of the client, until the decision is final or the wait ends. */
  async function inLine<Decision extends { readonly kind: string; readonly watched?: readonly WatchedPath[] }>(
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
    const leave = (presentMs: number) => commitPresence({ ...client, presentMs }).catch(onError);
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
      const outcome = await waiters.wait({ ...client, ms, watched: last.watched });
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
  }

  /** Workspaces with an update of their presence in progress. */
  const keeping = new Set<string>();

  async function keepPresentIn(workspace: string, clients: ReturnType<typeof waiters.placed>): Promise<void> {
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
    /**
     * Throws a refusal if the lock is not acquired. With options, the request waits in line. Without, the refusal of a
     * blocked request has the place that it would have.
     */
    async acquire(
      keyed: KeyedRequest | undefined,
      { compare, path, ...request }: AcquireRequest,
      waitOptions?: WaitOptions,
    ) {
      const key = { workspace: request.workspace, path };
      const waitId = waitIds.ofRequest(keyed, key);
      const asked = { ...request, keys: [key], wanted: 1, waitId };
      const decision = await inLine(waitId, request, waitOptions, async (place) => {
        const comparison = await compare();
        const decided = await commitAcquire(keyed, { ...asked, place, comparison });
        waiters.changed(nameOf(key));
        return orThrow(decided);
      });
      if (decision.kind === 'blocked') {
        // Its place may now belong to a newer request of the same client.
        const queue = decision.queue?.length ? decision.queue : await endOfLine(read, key);
        throw lockedRefusal({ ...decision, queue });
      }
      const { locks, comparison, waitedSeconds } = decision;
      const [lock] = locks.map(toLock);
      if (lock === undefined) throw new Error('The grant contains no lock.');
      return { lock, comparison, waitedSeconds };
    },
    async renew(keyed: KeyedRequest | undefined, request: RenewRequest) {
      const renewal = await commitRenewal(keyed, request);
      // A renewal may have shortened the lock.
      if (!request.isExtension) onChange(request.workspace, [request.path]);
      return renewal;
    },
    /** Releases that arrive together share a transaction. */
    async release(request: ReleaseRequest) {
      const decision = await commitRelease(request);
      if (decision.kind === 'released') onChange(request.workspace, [decision.lock.path]);
      return decision;
    },
    /** Like acquire(), for the locks of a lease. */
    acquireLease(request: LeaseRequest, waitOptions: WaitOptions | undefined) {
      return inLine(waitIds.ofLease(request), request, waitOptions, async (place) => {
        const decision = await takeLease(storage, request, place, quota);
        if (decision.kind === 'granted' && decision.isNew) onChange(request.workspace, pathsOf(decision.locks));
        return orThrow(decision);
      });
    },
    async renewLease(key: LeaseKey, bearer: Bearer, ttl: Ttl) {
      const renewal = await commit(key, (db) => renewLease(db, key, bearer, ttl));
      // A renewal may have shortened the locks.
      onChange(key.workspace, renewal.held);
      return renewal;
    },
    async endLease(key: LeaseKey, bearer: Bearer, admitEmpty: () => void) {
      const ending = await commit(key, (db) => endLease(db, key, bearer, admitEmpty));
      if (ending !== undefined) onChange(key.workspace, ending.changed);
      return ending;
    },
    async askFor(request: AskRequest) {
      const asked = await commit({ workspace: request.workspace }, (db) => ask(db, request));
      onChange(request.workspace, [request.path]);
      return asked;
    },
    /** False if the person has not asked. */
    async withdraw(request: Omit<AskRequest, 'note'>): Promise<boolean> {
      const isWithdrawn = await commit({ workspace: request.workspace }, (db) => withdraw(db, request));
      if (isWithdrawn) onChange(request.workspace, [request.path]);
      return isWithdrawn;
    },
    /** Called periodically: keeps free paths for the people whose turn it is, and notifies them. */
    async tellPeople(): Promise<void> {
      for (const wait of await peopleInTurn(read)) {
        try {
          await commit({ workspace: wait.workspace }, (db) => tell(db, wait.id));
          onChange(wait.workspace, [wait.path]);
        } catch (error) {
          onError(error);
        }
      }
    },
    /** Waits until nobody holds the path. Undefined if too many clients already wait. */
    waitUntilFree({ path, ...client }: Pick<Wait, 'workspace' | 'owner' | 'ms' | 'gone'> & LockKey) {
      return waiters.wait({ ...client, id: randomUUID(), watched: [{ path, isTurn: () => true }] });
    },
    /** Called periodically, so that others wait for the clients here. A slow workspace does not delay the rest. */
    async keepPresent(): Promise<void> {
      const byWorkspace = [...Map.groupBy(waiters.placed(), (client) => client.workspace)];
      const due = byWorkspace.filter(([workspace]) => !keeping.has(workspace));
      await Promise.all(due.map(([workspace, clients]) => keepPresentIn(workspace, clients)));
    },
    /** Ends all waits, so that the clients retry at another instance. */
    endWaits: waiters.stop,
  };
}

const pathsOf = (locks: readonly { readonly path: string }[]): string[] => locks.map(({ path }) => path);
