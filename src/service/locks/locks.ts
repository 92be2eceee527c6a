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
import { createLockWaiters, type Wait } from './local-waiters.ts';
import { createLockQuota, type LockQuotas } from './lock-quota.ts';
import { createPresence } from './presence.ts';
import { endOfLine } from './queue.ts';
import { lockedRefusal } from './refusals.ts';
import type { LockRequest } from './store-locks.ts';
import { type TakeRequest, type TakeRules, take } from './take.ts';
import { createWaitInLine, type WaitInLine } from './wait-in-line.ts';
import { type WaitOptions, waitIds } from './wait-terms.ts';
import { removeWaits } from './waits.ts';

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
  readonly idempotency: Idempotency;
  readonly quotas?: Partial<LockQuotas>;
  readonly metrics: Pick<Metrics, 'lockWaiters'>;
  readonly onError: (error: unknown) => void;
}

/** The locks of one instance. Every change also notifies waiting clients. */
export function createLocks({ storage, idempotency, quotas, metrics, onError }: LocksOptions) {
  const { read, broadcast } = storage;
  const waiters = createLockWaiters({
    readPath: (key) => readPath(read, key),
    watchOthers: broadcast.listen,
    onCount: (workspace, change) => metrics.lockWaiters.inc({ workspace }, change),
    onError,
  });
  const presence = createPresence(storage, waiters.wake, onError);

  /** Notifies the waiting clients of all instances that locks on these paths, or their lines, have changed. */
  function onChange(workspace: string, paths: readonly string[]): void {
    const lines = paths.length > maxNamedLines ? [undefined] : paths.map((path) => nameOf({ workspace, path }));
    for (const line of lines) {
      waiters.changed(line);
      broadcast.send(line);
    }
  }

  const inLine = createWaitInLine(read, waiters, presence);
  const rules = { quota: createLockQuota(quotas), keepPresent: presence.keepOverdue };
  const { changed } = waiters;
  const parts = { storage, idempotency, rules, inLine, changed, onChange, onError };
  return {
    ...singleLocks(parts),
    ...leasesOf(parts),
    ...requestsOfPeople(parts),
    /** Waits until nobody holds the path. Undefined if too many clients already wait. */
    waitUntilFree({ path, ...client }: Pick<Wait, 'workspace' | 'owner' | 'ms' | 'gone'> & LockKey) {
      return waiters.wait({ ...client, id: randomUUID(), watched: [{ path, isTurn: () => true }] });
    },
    /** Called periodically, so that others wait for the clients here. */
    async keepPresent(): Promise<void> {
      // A message of another instance may be lost with it, for example that of its last release.
      if (storage.dialect === 'postgres') waiters.lookUp();
      await presence.keep();
    },
    /** Ends all waits, so that the clients retry at another instance. */
    endWaits: waiters.stop,
  };
}

interface LockParts extends Pick<LocksOptions, 'storage' | 'idempotency' | 'onError'> {
  readonly rules: TakeRules;
  readonly inLine: WaitInLine;
  /** Tells the clients here that the line of a path has changed. */
  readonly changed: (line: string) => void;
  readonly onChange: (workspace: string, paths: readonly string[]) => void;
}

function singleLocks({ storage, idempotency, rules, inLine, changed, onChange, onError }: LockParts) {
  const commitAcquire = idempotency.idempotentBatch({
    decide: (db, requests: readonly TakeRequest[]) => take(db, requests, rules),
    isDone: ({ kind }) => kind === 'granted',
  });

  const commitRenewal = idempotency.idempotentBatch({
    decide: renewLocks,
    isDone: ({ kind }) => kind === 'renewed',
  });

  const commitRelease = idempotency.idempotentBatch({
    decide: releaseLocks,
    isDone: ({ kind }) => kind === 'released',
  });

  const removeWait = storage.batchCommits(
    ({ workspace }: LeaseKey) => ({ workspace }),
    async (db, waits) => {
      await removeWaits(db, waits);
      return waits.map(() => undefined);
    },
  );

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
      const decision = await inLine(waitId, request, waitOptions, async (place, during) => {
        const comparison = await during(compare);
        const decided = await commitAcquire(keyed, { ...asked, place, comparison });
        changed(nameOf(key));
        return decided;
      });
      if (decision.kind === 'blocked') {
        // Nobody can ask for this place again. It would count towards the limit of the token.
        if (keyed === undefined && waitOptions !== undefined) await removeWait({ ...key, id: waitId }).catch(onError);
        // Its place may now belong to a newer request of the same client.
        const queue = decision.queue?.length ? decision.queue : await endOfLine(storage.read, key);
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
    async release(request: ReleaseRequest, keyed?: KeyedRequest) {
      const decision = await commitRelease(keyed, request);
      if (decision.kind === 'released') onChange(request.workspace, [decision.lock.path]);
      return decision;
    },
  };
}

function leasesOf({ storage, rules, inLine, onChange }: LockParts) {
  const { commit } = storage;
  return {
    /** Like acquire(), for the locks of a lease. */
    acquireLease(request: LeaseRequest, waitOptions: WaitOptions | undefined) {
      return inLine(waitIds.ofLease(request), request, waitOptions, async (place, during) => {
        const compare: LeaseRequest['compare'] = (paths) => during(() => request.compare(paths));
        const decision = await takeLease(storage, { ...request, compare }, place, rules);
        if (decision.kind === 'granted' && decision.isNew) onChange(request.workspace, pathsOf(decision.locks));
        return decision;
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
  };
}

function requestsOfPeople({ storage, idempotency, rules, onChange, onError }: LockParts) {
  const { read, commit } = storage;
  return {
    async askFor(request: AskRequest, keyed?: KeyedRequest) {
      const nothing = async () => undefined;
      const asked = await idempotency.idempotent(request.workspace, keyed, nothing, (db) => ask(db, request));
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
          await commit({ workspace: wait.workspace }, async (db) => {
            await rules.keepPresent(db, [wait]);
            await tell(db, wait.id);
          });
          onChange(wait.workspace, [wait.path]);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

const pathsOf = (locks: readonly { readonly path: string }[]): string[] => locks.map(({ path }) => path);
