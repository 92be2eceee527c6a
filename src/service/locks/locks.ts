import type { Ttl } from '../../interface/ttl.ts';
import { invalid, Refusal } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { KeyedRequest } from '../idempotency/keyed-request.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { type AcquireRequest, acquireLocks } from './acquire.ts';
import { type CommitReleases, createCommitReleases, shareReleases } from './commit-releases.ts';
import { removeExpiredLocks } from './expire.ts';
import { findCommittedLock, type LockPlace, type StoredLock } from './find.ts';
import type { LiveLock } from './list.ts';
import { createLockQuota, type LockQuotas } from './lock-quota.ts';
import { lockOf } from './lock-row.ts';
import { createRefusedRequests, type WaitingRequest } from './refused-requests.ts';
import { type ReleaseDecision, type ReleaseRequest, releaseLocks } from './release.ts';
import { type Extension, extendLock, type RenewalRequest, renewLock } from './renew.ts';
import { renewLfsLocks } from './renew-lfs-locks.ts';
import { acquireResponse, locked, renewResponse } from './responses.ts';
import { createLockWaiters, type LockWaiters, type ReleasedLock } from './waiters.ts';
import { type LockWatch, watchLocks } from './watch-locks.ts';
import { foldCase, windowsPathProblem } from './windows-path.ts';

/**
 * The locks of one instance. Each change also notifies webhooks, open pages and waiting clients. acquire() and renew()
 * return responses, because these are stored under the key of the request.
 */
export interface Locks extends Pick<LockWaiters, 'wait'>, Pick<LockWatch, 'follow'> {
  acquire(keyed: KeyedRequest | undefined, request: Omit<AcquireRequest, 'foldedPath'>): Promise<ApiResponse>;
  renew(keyed: KeyedRequest | undefined, request: RenewalRequest): Promise<ApiResponse>;
  /** Renewal by a person: never shortens the lock. */
  extend(request: RenewalRequest): Promise<Extension>;
  /** Renews locks of a Git LFS user for the full ttl. */
  renewLfs(workspace: string, locks: readonly LiveLock[], ttl: Ttl): Promise<void>;
  /** Releases that arrive together share a transaction. */
  release(request: ReleaseRequest): Promise<ReleaseDecision>;
  readonly commitReleases: CommitReleases;
  /** Finds a committed lock. */
  find(place: LockPlace): Promise<StoredLock | undefined>;
  /** Requests for the path that are waiting, or were refused in the last minute. */
  waitingFor(place: LockPlace): Promise<readonly WaitingRequest[]>;
  /** Called periodically. Returns the number of removed locks. */
  removeExpired(): Promise<number>;
  /** Called periodically, to show other instances the clients that wait here. */
  writeWaiting(): Promise<void>;
  /** Ends all waits, so that the clients retry on another instance. */
  endWaits(): void;
  stop(): Promise<void>;
}

/** Attributes the time of the work to these tokens. */
export type MeasureCost = <T>(tokenIds: readonly string[], work: () => Promise<T>) => Promise<T>;

export interface LocksOptions {
  readonly storage: Storage;
  readonly idempotency: Idempotency;
  readonly quotas: LockQuotas;
  /** Whether paths follow the rules of Windows: some are invalid, and case does not matter. */
  readonly windowsPaths: boolean;
  readonly metrics: Pick<Metrics, 'refusedLocks' | 'lockWaiters'>;
  readonly measureCost: MeasureCost;
  /** Called when events for webhooks may be queued. */
  readonly onEvent: () => void;
  readonly onError: (error: unknown) => void;
}

/** Open pages show changes by other instances within a second. */
const watchEveryMs = 300;

export function createLocks(options: LocksOptions): Locks {
  const { storage, idempotency, windowsPaths, metrics, measureCost, onEvent, onError } = options;
  const clock = () => performance.now();
  const quota = createLockQuota(options.quotas, clock);
  const fold = (path: string): string | undefined => (windowsPaths ? foldCase(path) : undefined);
  const keyOfPath = (path: string): string => fold(path) ?? path;
  const find = (place: LockPlace) => findCommittedLock(storage, { ...place, foldedPath: fold(place.path) });

  const broadcast = shareReleases(storage.broadcast);
  const watch = watchLocks(storage, { pollMs: watchEveryMs, onError });
  const waiters = createLockWaiters({
    keyOfPath,
    find,
    watchOthers: broadcast.listen,
    after: (ms, work) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    onCount: (workspace, change) => metrics.lockWaiters.inc({ workspace }, change),
    onError,
  });
  const refused = createRefusedRequests({ storage, keyOfPath, waiting: waiters.waiting, clock });

  function onChange(): void {
    onEvent();
    watch.wake();
  }

  function onReleased(released: readonly ReleasedLock[]): void {
    for (const lock of released) {
      waiters.released(lock);
      void broadcast.send(lock);
    }
    onChange();
  }

  function onRenewed(places: readonly LockPlace[]): void {
    for (const place of places) waiters.renewed(place);
    onChange();
  }

  const commitAcquire = idempotency.idempotentBatch<AcquireRequest>({
    scopeOf: ({ workspace }) => ({ workspace }),
    async refusedBefore(request) {
      // Checked only here, so that a lock acquired before the setting was changed can still be replayed under its key.
      const reason = windowsPaths ? windowsPathProblem(request.path) : undefined;
      if (reason !== undefined) return invalid({ pointer: '#/path', detail: reason });
      const found = await find(request);
      return found?.live ? locked(request.path, lockOf(found), found.remainingSeconds) : undefined;
    },
    async decide(db, requests) {
      const acquisitions = await measureCost(
        requests.map(({ bearer }) => bearer.id),
        () => acquireLocks(db, storage.now, requests, quota),
      );
      for (const { kind } of acquisitions) if (kind === 'exceeded') metrics.refusedLocks.inc();
      return requests.flatMap(({ path }, index) => {
        const acquisition = acquisitions[index];
        return acquisition === undefined ? [] : [acquireResponse(path, acquisition)];
      });
    },
  });

  const commitRelease = storage.batchCommits(
    ({ workspace }: ReleaseRequest) => ({ workspace }),
    (db, requests) =>
      measureCost(
        requests.flatMap(({ releaser }) => releaser.tokenId ?? []),
        () => releaseLocks(db, storage.now, requests),
      ),
  );

  return {
    async acquire(keyed, request) {
      try {
        const response = await commitAcquire(keyed, { ...request, foldedPath: fold(request.path) });
        onChange();
        return response;
      } catch (error) {
        // Noted only here: an earlier check could see a lock that this same request had acquired before.
        if (error instanceof Refusal && error.problem === 'locked') {
          const { workspace, path, bearer, origin } = request;
          refused.note({ workspace, path, owner: bearer.owner, origin });
        }
        throw error;
      }
    },
    async renew(keyed, request) {
      const renew = async (db: Database) => renewResponse(request, await renewLock(db, storage.now, request));
      const response = await idempotency.idempotent(
        { workspace: request.workspace },
        keyed,
        async () => undefined,
        renew,
      );
      onRenewed([request]);
      return response;
    },
    async extend(request) {
      const extension = await storage.commit({ workspace: request.workspace }, (db) =>
        extendLock(db, storage.now, request),
      );
      if (extension.kind === 'renewed') onRenewed([request]);
      return extension;
    },
    async renewLfs(workspace, locks, ttl) {
      await storage.commit({ workspace }, (db) => renewLfsLocks(db, storage.now, locks, ttl));
      onRenewed(locks.map(({ path }) => ({ workspace, path })));
    },
    async release(request) {
      const decision = await commitRelease(request);
      if (decision.kind === 'released') onReleased([{ workspace: request.workspace, ...decision.lock }]);
      return decision;
    },
    commitReleases: createCommitReleases(storage, async (released) => onReleased(released)),
    find,
    waitingFor: refused.ofPath,
    async removeExpired() {
      const removed = await removeExpiredLocks(storage);
      if (removed > 0) onChange();
      return removed;
    },
    writeWaiting: refused.write,
    wait: waiters.wait,
    follow: watch.follow,
    endWaits: waiters.stop,
    stop: watch.stop,
  };
}
