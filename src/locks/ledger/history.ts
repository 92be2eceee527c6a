import { isSameLock } from '../../client/known-lock.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Entry, Grant, GrantedLock, Intent, LockAddress, Loss } from './entry.ts';
import type { Ledger } from './ledger.ts';

/** A workspace of a service. */
export interface LockPlace {
  readonly service: string;
  readonly workspace: string;
}

/** A lock from the output of another step. */
type NamedLock = Pick<GrantedLock, 'path' | 'id' | 'etag'>;

/**
 * The workspaces in which the job holds locks, or tried to lock if it holds none. With `named`, the workspaces in which
 * its steps acquired all of these locks: locks of another job may be anywhere.
 */
export function readLockPlaces(ledger: Ledger, named: readonly NamedLock[] = []): readonly LockPlace[] {
  const { entries } = ledger.read();
  const { held, grants } = historyOf(entries);
  const plans = entries.filter((entry) => entry.kind === 'plan');
  const used: readonly LockPlace[] =
    named.length > 0 ? grants : held.length > 0 ? held.map(({ grant }) => grant) : plans;
  const places = new Map(used.map((place) => [JSON.stringify([place.service, place.workspace]), place]));
  const grantsOn = Map.groupBy(grants, ({ path }) => path);
  const isIn = ({ service, workspace }: LockPlace, lock: NamedLock): boolean =>
    (grantsOn.get(lock.path) ?? []).some(
      (grant) => grant.service === service && grant.workspace === workspace && isSameLock(grant.lock, lock) === true,
    );
  return [...places.values()]
    .filter((place) => named.every((lock) => isIn(place, lock)))
    .map(({ service, workspace }) => ({ service, workspace }));
}

export type JobLocks = ReturnType<typeof readJobLocks>;

/** The locks of a job in one workspace, from its ledger. */
export function readJobLocks(ledger: Ledger, service: string, workspace: string) {
  const { entries, problem } = ledger.read();
  const isHere = (place: LockPlace): boolean => place.service === service && place.workspace === workspace;
  const { held, stepNames } = historyOf(entries);
  const byPath = new Map<LockPath, JobLock>();
  for (const lock of held) if (isHere(lock.grant)) byPath.set(lock.grant.path, lock);
  const elsewhere = held.filter(({ grant, releaseStarted }) => !releaseStarted && !isHere(grant));
  return {
    held: byPath,
    /** Other workspaces, including those of other services, in which the job holds locks. */
    otherWorkspaces: [...new Set(elsewhere.map(({ grant }) => grant.workspace))],
    lost: held.flatMap(({ grant, loss }) => (loss !== undefined && isHere(grant) ? [loss] : [])),
    /** All paths that the steps of the job planned to lock. */
    planned: new Set(entries.flatMap((entry) => (entry.kind === 'plan' && isHere(entry) ? entry.paths : []))),
    stepNames,
    /** Some of the ledger could not be read. */
    damaged: problem !== undefined,
  };
}

export function historyOf(entries: readonly Entry[]) {
  const history = openHistory();
  history.add(entries);
  return history.read();
}

export interface JobLock {
  /** With the expiry after the last renewal. */
  readonly grant: Grant;
  /** The release was started, with an unknown result. */
  readonly releaseStarted: boolean;
  /** The service refused to renew the lock. */
  readonly loss?: Loss | undefined;
}

/** The results of all requests of a job's steps, which grow with the ledger. */
export function openHistory() {
  const unanswered = new Map<string, Intent>();
  /** By path, then by idempotency key: a repeated request with the same key is about the same lock. */
  const held = new Map<string, Map<string, JobLock>>();
  const grants = new Map<string, Grant>();
  const endings = new Map<string, Entry>();
  const losses = new Map<string, Loss>();
  const renewalError = new Map<string, string>();
  const stopped = new Set<string>();
  const stepNames = new Map<string, string>();

  function locksAt(address: LockAddress): Map<string, JobLock> {
    const key = addressKey(address);
    const locks = held.get(key) ?? new Map<string, JobLock>();
    held.set(key, locks);
    return locks;
  }

  const update = (lock: JobLock, change: Partial<JobLock>): void =>
    void locksAt(lock.grant).set(lock.grant.key, { ...lock, ...change });

  const allHeld = (): readonly JobLock[] => [...held.values()].flatMap((locks) => [...locks.values()]);

  /** The locks that an entry is about, by id or ETag. One that cannot be compared is among them. */
  const locksOf = (entry: Extract<Entry, { kind: 'releasing' | 'ended' }>): readonly JobLock[] =>
    [...locksAt(entry).values()].filter(({ grant }) => isSameLock(entry, grant.lock) ?? true);

  function addEntry(entry: Entry): void {
    switch (entry.kind) {
      case 'plan':
        if (entry.stepName !== undefined) stepNames.set(entry.step, entry.stepName);
        break;
      case 'intent':
        unanswered.set(entry.key, entry);
        break;
      case 'denied':
        unanswered.delete(entry.key);
        break;
      case 'granted': {
        unanswered.delete(entry.key);
        const locks = locksAt(entry);
        // A second grant is the same lock, with a new ETag after a renewal.
        const grant = { ...entry, at: locks.get(entry.key)?.grant.at ?? entry.at };
        locks.delete(entry.key);
        locks.set(entry.key, { grant, releaseStarted: false });
        grants.set(`${entry.step} ${addressKey(entry)}`, grant);
        endings.delete(entry.key);
        break;
      }
      case 'renewed': {
        const except = new Set(entry.except);
        for (const locks of held.values()) {
          for (const [key, lock] of locks) {
            const { grant, releaseStarted, loss } = lock;
            if (grant.step !== entry.step || except.has(grant.path) || releaseStarted || loss !== undefined) continue;
            locks.set(key, { ...lock, grant: { ...grant, lock: { ...grant.lock, expires_at: entry.expires_at } } });
          }
        }
        renewalError.delete(entry.step);
        break;
      }
      case 'unrenewed':
        renewalError.set(entry.step, entry.reason);
        break;
      case 'lost': {
        const lock = locksAt(entry).get(entry.key);
        losses.set(entry.key, entry);
        if (lock !== undefined) update(lock, { loss: entry });
        break;
      }
      case 'stop-renewing':
        stopped.add(entry.step);
        break;
      case 'releasing':
        for (const lock of locksOf(entry)) update(lock, { releaseStarted: true });
        break;
      case 'ended':
        for (const { grant } of locksOf(entry)) {
          locksAt(entry).delete(grant.key);
          endings.set(grant.key, entry);
        }
    }
  }

  return {
    /** Entries must be in order: later ones have the results of earlier ones. */
    add(entries: readonly Entry[]): void {
      for (const entry of entries) addEntry(entry);
    },
    /** The lock of this grant, unless it has ended. */
    find: (grant: Grant): JobLock | undefined => held.get(addressKey(grant))?.get(grant.key),
    /** Whether the renewal of the step's locks has stopped. */
    hasStopped: (step: string): boolean => stopped.has(step),
    read: () => ({
      /** Granted, and not known to have ended. */
      held: allHeld(),
      /** Requests without a result in the ledger. */
      unanswered: [...unanswered.values()],
      /** The last grant of each step and path, even if that lock has ended. */
      grants: [...grants.values()],
      /** Ends of locks, if known, and lost locks: by the idempotency key of the request that acquired them. */
      endings,
      losses,
      /** The reason why the last renewal of a step failed, by step id. Absent if it succeeded. */
      renewalError,
      /** Names of the steps in the workflow, by their ids in the ledger. */
      stepNames,
    }),
  };
}

const addressKey = ({ service, workspace, path }: LockAddress): string => JSON.stringify([service, workspace, path]);
