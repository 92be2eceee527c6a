import { randomUUID } from 'node:crypto';
import { milliseconds, type Ttl } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Compared } from '../../interface/resources.ts';
import type { Idempotency, KeyedRequest } from '../idempotency/idempotency.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { createAsking } from './ask.ts';
import { type ReleaseRequest, type RenewDecision, type RenewRequest, releaseLocks, renewLocks } from './change-lock.ts';
import { findCommittedLock, type LockKey, nameOf } from './find.ts';
import { createLeases } from './leases.ts';
import { createLockWaiters, type PathState, type Wait } from './local-waiters.ts';
import { createLockQuota, type LockQuotas } from './lock-quota.ts';
import { committedKeptFor, lookAgainMs } from './next-in-line.ts';
import { endOfLine } from './queue.ts';
import type { LockRequest } from './store-locks.ts';
import { type TakeDecision, type TakeRequest, take } from './take.ts';
import { waitIds } from './wait-terms.ts';
import { createWaitInLine, type OnChange, type Waited, type WaitOptions } from './waiting-requests.ts';

/** Beyond this number of changed lines, one message says that any may have changed. */
const maxNamedLines = 100;

export type Locks = ReturnType<typeof createLocks>;

export interface NewAcquireRequest extends Omit<LockRequest, 'ttlMs' | 'lease'> {
  readonly path: LockPath;
  readonly ttl: Ttl;
  /** Compares the file with other branches. */
  readonly compare: () => Promise<Compared>;
}

/** A blocked request that is not in line gets the place that it would have. */
export type Acquisition = Waited<TakeDecision>;

interface LocksOptions {
  readonly storage: Storage;
  readonly idempotency: Idempotency;
  readonly quotas: LockQuotas;
  readonly metrics: Pick<Metrics, 'lockWaiters'>;
  readonly onError: (error: unknown) => void;
}

/** The locks of one instance. Each change also notifies waiting clients. */
export function createLocks({ storage, idempotency, quotas, metrics, onError }: LocksOptions) {
  const quota = createLockQuota(quotas, () => performance.now());
  async function readPath(key: LockKey): Promise<PathState> {
    const [found, next] = await Promise.all([findCommittedLock(storage, key), committedKeptFor(storage, key)]);
    // The clock of the database counts: that of this process may differ.
    const isFree = found === undefined;
    return { isFree, next: next?.id, lookAgainMs: isFree ? lookAgainMs(next) : found.remainingMs };
  }

  const waiters = createLockWaiters({
    readPath,
    watchOthers: storage.broadcast.listen,
    onCount: (workspace, change) => metrics.lockWaiters.inc({ workspace }, change),
    onError,
  });

  const onChange: OnChange = (workspace, paths) => {
    const lines = paths.length > maxNamedLines ? [undefined] : paths.map((path) => nameOf({ workspace, path }));
    for (const line of lines) {
      waiters.changed(line);
      storage.broadcast.send(line);
    }
  };

  const line = createWaitInLine({ storage, waiters, onError });

  const commitAcquire = idempotency.idempotentBatch<TakeRequest, TakeDecision>({
    decide: (db, requests) => take(db, requests, quota),
    isDone: ({ kind }) => kind === 'granted',
  });

  const commitRenewal = idempotency.idempotentBatch<RenewRequest, RenewDecision>({
    decide: (db, requests) => renewLocks(db, requests),
    isDone: ({ kind }) => kind === 'renewed',
  });

  const commitRelease = storage.batchCommits(
    ({ workspace }: ReleaseRequest) => ({ workspace }),
    (db, requests) => releaseLocks(db, requests),
  );

  return {
    ...createAsking({ storage, onChange, onError }),
    leases: createLeases({ storage, quota, line, onChange }),
    /** With options, the request waits in line, and acquires the lock at its turn. */
    async acquire(
      keyed: KeyedRequest | undefined,
      { compare, path, ttl, ...request }: NewAcquireRequest,
      waitOptions?: WaitOptions,
    ): Promise<Acquisition> {
      const { workspace, bearer } = request;
      const key = { workspace, path };
      const waitId = waitIds.ofRequest(keyed, key);
      const asked = { ...request, keys: [key], wanted: 1, ttlMs: milliseconds(ttl), waitId };
      const client = { id: waitId, workspace, owner: bearer.owner };
      const decision = await line.acquire(client, waitOptions, async (place) => {
        const comparison = await compare();
        const decided = await commitAcquire(keyed, { ...asked, place, comparison });
        waiters.changed(nameOf(key));
        return decided;
      });
      if (decision.kind !== 'blocked') return decision;
      // It may have lost its place to a newer request of its client.
      if (decision.queue !== undefined && decision.queue.length > 0) return decision;
      return { ...decision, queue: await endOfLine(storage, key) };
    },
    async renew(keyed: KeyedRequest | undefined, request: RenewRequest) {
      const renewal = await commitRenewal(keyed, request);
      // It may have shortened the lock.
      if (!request.isExtension) onChange(request.workspace, [request.path]);
      return renewal;
    },
    /** Releases that arrive together share a transaction. */
    async release(request: ReleaseRequest) {
      const decision = await commitRelease(request);
      if (decision.kind === 'released') onChange(request.workspace, [decision.lock.path]);
      return decision;
    },
    /** Waits until nobody holds the path. Undefined if too many clients already wait. */
    waitUntilFree({ path, ...client }: Pick<Wait, 'workspace' | 'owner' | 'ms' | 'gone'> & LockKey) {
      return waiters.wait({ ...client, id: randomUUID(), watched: [{ path, isTurn: () => true }] });
    },
    keepPresent: line.keepPresent,
    /** Ends all waits, so that the clients retry on another instance. */
    endWaits: waiters.stop,
  };
}
