import type { Comparison } from '../../interface/resources.ts';
import type { Ttl } from '../../interface/ttl.ts';
import { invalid } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { KeyedRequest } from '../idempotency/keyed-request.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { type AcquireRequest, acquireLocks, linePathOf } from './acquire.ts';
import { createAsking } from './ask.ts';
import { createCommitReleases, createLineBroadcast } from './commit-releases.ts';
import { removeExpiredLocks } from './expire.ts';
import { findCommittedLock, findLocks, type LockKey } from './find.ts';
import { createLeases } from './leases.ts';
import { committedFirstInLine, type LinePath } from './line.ts';
import type { ActiveLock } from './list.ts';
import { createLockQuota, type LockQuotas } from './lock-quota.ts';
import { toLock } from './lock-row.ts';
import { listQueue } from './read-queue.ts';
import { type ReleaseRequest, releaseLocks } from './release.ts';
import { extendLock, extendLocks, type RenewRequest, renewLock } from './renew.ts';
import { acquireResponse, locked, outdatedRefusal, renewResponse } from './responses.ts';
import { createWaitingLine, type WaitOptions } from './wait-in-line.ts';
import { createLockWaiters, type PathState, type Wait } from './waiters.ts';
import { watchLocks } from './watch-locks.ts';
import { foldCase, windowsPathProblem } from './windows-path.ts';

export type Locks = ReturnType<typeof createLocks>;

export type NewAcquireRequest = Omit<AcquireRequest, 'foldedPath' | 'place'>;

interface LocksOptions {
  readonly storage: Storage;
  readonly idempotency: Idempotency;
  readonly quotas: LockQuotas;
  /** Whether paths follow the rules of Windows: some are invalid, and case does not matter. */
  readonly windowsPaths: boolean;
  readonly metrics: Pick<Metrics, 'refusedLocks' | 'lockWaiters'>;
  /** Attributes the time of the work to these tokens. */
  readonly measureCost: <T>(tokenIds: readonly string[], work: () => Promise<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
}

interface ComparedRequest extends AcquireRequest {
  readonly comparison: Comparison | undefined;
}

/** Beyond this number of changes, other instances are told that anything may have changed. */
const maxSentAlone = 100;

/** Open pages show changes by other instances within a second. */
const watchEveryMs = 300;

/**
 * The locks of one instance. Each change also notifies open pages and waiting clients. acquire(), renew() and askFor()
 * return responses, because these are stored under the key of the request.
 */
export function createLocks(options: LocksOptions) {
  const { storage, idempotency, windowsPaths, metrics, measureCost, onError } = options;
  const quota = createLockQuota(options.quotas, () => performance.now());
  const fold = (path: string): string | undefined => (windowsPaths ? foldCase(path) : undefined);
  const lineOf = (key: LockKey): LinePath => linePathOf({ ...key, foldedPath: fold(key.path) });
  const find = (key: LockKey) => findCommittedLock(storage, { ...key, foldedPath: fold(key.path) });

  const broadcast = createLineBroadcast(storage.broadcast);
  const watch = watchLocks(storage, { pollMs: watchEveryMs, onError });

  async function readPath(line: LinePath): Promise<PathState> {
    const [found, first] = await Promise.all([
      find({ ...line }),
      committedFirstInLine(storage, { ...line, placeId: null }),
    ]);
    // The clock of the database counts: that of this process may differ.
    return { remainingMs: found?.isActive ? found.remainingMs : undefined, first };
  }

  const waiters = createLockWaiters({
    readPath,
    watchOthers: (onOthers) => broadcast.listen((key) => onOthers(key && lineOf(key))),
    onCount: (workspace, change) => metrics.lockWaiters.inc({ workspace }, change),
    onError,
  });

  function onLineChange(line: LinePath): void {
    waiters.changed(line);
    void broadcast.send(line);
  }

  /** After releases and renewals: a renewal may also shorten a lock. */
  function onEndsChange(keys: readonly LockKey[]): void {
    const lines = keys.map(lineOf);
    for (const line of lines) waiters.changed(line);
    void (lines.length > maxSentAlone ? broadcast.sendAny() : Promise.all(lines.map(broadcast.send)));
    watch.wake();
  }

  const commitAcquire = idempotency.idempotentBatch<ComparedRequest>({
    async refuseEarly(request) {
      // Checked only here, so that a lock acquired before the setting was changed can still be replayed under its key.
      const reason = windowsPaths ? windowsPathProblem(request.path) : undefined;
      if (reason !== undefined) return invalid({ pointer: '#/path', detail: reason });
      const { comparison } = request;
      if (comparison?.latest === 'refuse' && comparison.outdated.length > 0)
        return outdatedRefusal(request, comparison);
      const found = await find(request);
      return found?.isActive ? locked(request.path, toLock(found), found.remainingSeconds) : undefined;
    },
    async decide(db, requests) {
      const acquisitions = await measureCost(
        requests.map(({ bearer }) => bearer.id),
        () => acquireLocks(db, storage.now, requests, quota),
      );
      for (const { kind } of acquisitions) if (kind === 'exceeded') metrics.refusedLocks.inc();
      return requests.flatMap((request, index) => {
        const acquisition = acquisitions[index];
        return acquisition === undefined ? [] : [acquireResponse(request, request.comparison, acquisition)];
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

  const line = createWaitingLine({
    storage,
    waiters,
    async attempt(keyed, request) {
      const comparison = await request.compare?.();
      const response = await commitAcquire(keyed, { ...request, comparison });
      watch.wake();
      return response;
    },
    onChange: onLineChange,
    onError,
  });

  const asking = createAsking({
    ...{ storage, quota, windowsPaths, lineOf, onError, idempotent: idempotency.idempotent },
    onChange(line) {
      onLineChange(line);
      watch.wake();
    },
  });

  return {
    ...asking,
    leases: createLeases({
      ...{ storage, quota, fold, onChange: onEndsChange },
      pathProblem: (path) => (windowsPaths ? windowsPathProblem(path) : undefined),
    }),
    /** With options, the request waits in line, and acquires the lock at its turn. */
    acquire: (keyed: KeyedRequest | undefined, request: NewAcquireRequest, waitOptions?: WaitOptions) =>
      line.acquire(keyed, { ...request, foldedPath: fold(request.path) }, waitOptions),
    async renew(keyed: KeyedRequest | undefined, request: RenewRequest): Promise<ApiResponse> {
      const renew = async (db: Database) => renewResponse(request, await renewLock(db, storage.now, request));
      const response = await idempotency.idempotent(request.workspace, keyed, async () => undefined, renew);
      onEndsChange([request]);
      return response;
    },
    /** Renewal by a person: never shortens the lock. */
    async extend(request: RenewRequest) {
      const extension = await storage.commit({ workspace: request.workspace }, (db) =>
        extendLock(db, storage.now, request),
      );
      if (extension.kind === 'renewed') onEndsChange([request]);
      return extension;
    },
    /** Renews locks of a Git LFS user for the full ttl. */
    async renewLfs(workspace: string, locks: readonly ActiveLock[], ttl: Ttl): Promise<void> {
      await storage.commit({ workspace }, (db) => extendLocks(db, storage.now, locks, ttl));
      onEndsChange(locks.map(({ path }) => ({ workspace, path })));
    },
    /** Releases that arrive together share a transaction. */
    async release(request: ReleaseRequest) {
      const decision = await commitRelease(request);
      if (decision.kind === 'released') onEndsChange([{ workspace: request.workspace, ...decision.lock }]);
      return decision;
    },
    commitReleases: createCommitReleases(storage, async (released) => onEndsChange(released)),
    find,
    /** Committed active locks on many paths, each once. */
    async findAll(workspace: string, paths: readonly string[]) {
      const keys = paths.map((path) => ({ workspace, path, foldedPath: fold(path) }));
      const found = await findLocks(storage.read, storage.now, keys);
      return [...new Map(found.flatMap((lock) => (lock?.isActive ? [[lock.id, lock] as const] : []))).values()];
    },
    /** Waits until nobody holds the path. Undefined if too many clients already wait. */
    waitUntilFree: (request: Omit<Wait, keyof LinePath> & LockKey) =>
      waiters.waitUntilFree({ ...request, ...lineOf(request) }),
    queue: ({ workspace, path }: { readonly workspace: string; readonly path?: string | undefined }) =>
      listQueue(storage, { workspace, path: path === undefined ? undefined : lineOf({ workspace, path }).path }),
    /** Called periodically. Returns the number of removed locks. */
    async removeExpired(): Promise<number> {
      const removed = await removeExpiredLocks(storage);
      if (removed > 0) watch.wake();
      return removed;
    },
    keepPresent: line.keepPresent,
    follow: watch.follow,
    /** Ends all waits, so that the clients retry on another instance. */
    endWaits: waiters.stop,
    stop: watch.stop,
  };
}
