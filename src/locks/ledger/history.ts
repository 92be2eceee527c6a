import { isSameLock } from '../../client/known-lock.ts';
import { type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import type { Entry, Grant, GrantedLock, Intent, LockAddress, LockEnd, Loss, Releasing, Renewed } from './entry.ts';
import type { Ledger, LedgerContent } from './ledger.ts';

/** A workspace of a service. */
export type LockPlace = Pick<LockAddress, 'service' | 'workspace'>;

/** A lock from the output of another step. */
type NamedLock = Pick<GrantedLock, 'path' | 'id' | 'etag'>;

/**
 * The workspaces in which the job holds locks, or tried to lock if it holds none. With `named`, the workspaces in which
 * its steps acquired all of these locks: locks of another job may be anywhere.
 */
export function readLockPlaces(ledger: Ledger, named: readonly NamedLock[] = []): readonly LockPlace[] {
  const { entries } = readContent(ledger);
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

export interface JobLock {
  /** With the expiry after the last renewal. */
  readonly grant: Grant;
  /** The release was started, with an unknown result. */
  readonly releaseStarted: boolean;
  /** The service refused to renew the lock. */
  readonly loss?: Loss | undefined;
}

/** The locks of a job in one workspace, from its ledger. */
export interface JobLocks {
  readonly held: ReadonlyMap<LockPath, JobLock>;
  readonly lost: readonly Loss[];
  /** Other workspaces, including those of other services, in which the job holds locks. */
  readonly otherWorkspaces: readonly string[];
  /** All paths that the steps of the job planned to lock. */
  readonly planned: ReadonlySet<string>;
  /** Names of the steps in the workflow, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
  /** Some of the ledger could not be read. */
  readonly damaged: boolean;
}

/** Tests whether the job holds a lock on a path. The ledger is read once, by the first test. */
export function createLockedTest(ledger: Ledger, service: string, workspace: string): (path: LockPath) => boolean {
  let held: JobLocks['held'] | undefined;
  return (path) => {
    held ??= readJobLocks(ledger, service, workspace).held;
    return held.has(path);
  };
}

export function readJobLocks(ledger: Ledger, service: string, workspace: string): JobLocks {
  const { entries, damaged } = readContent(ledger);
  const isHere = (entry: Pick<LockAddress, 'service' | 'workspace'>): boolean =>
    entry.service === service && entry.workspace === workspace;
  const { held, stepNames } = historyOf(entries);
  const byPath = new Map<LockPath, JobLock>();
  for (const lock of held) {
    const path = parseLockPath(lock.grant.path);
    if (path.ok && isHere(lock.grant)) byPath.set(path.value, lock);
  }
  const elsewhere = held.filter(({ grant, releaseStarted }) => !releaseStarted && !isHere(grant));
  return {
    held: byPath,
    otherWorkspaces: [...new Set(elsewhere.map(({ grant }) => grant.workspace))],
    lost: held.flatMap(({ grant, loss }) => (loss !== undefined && isHere(grant) ? [loss] : [])),
    planned: new Set(entries.flatMap((entry) => (entry.kind === 'plan' && isHere(entry) ? entry.paths : []))),
    stepNames,
    damaged: damaged > 0,
  };
}

/** The results of all requests of a job's steps. */
export interface History {
  /** Granted, and not known to have ended. */
  readonly held: readonly JobLock[];
  /** Requests without a result in the ledger. */
  readonly unanswered: readonly Intent[];
  /** The last grant of each step and path, even if that lock has ended. */
  readonly grants: readonly Grant[];
  /** Ends of locks, if known. */
  readonly endings: ReadonlyMap<Grant, LockEnd>;
  /** Lost locks, by the idempotency key of the request that acquired them. */
  readonly losses: ReadonlyMap<string, Loss>;
  /** The reason why the last renewal of a step failed, by step id. Absent if it succeeded. */
  readonly renewalError: ReadonlyMap<string, string>;
  /** Names of the steps in the workflow, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
}

export function historyOf(entries: readonly Entry[]): History {
  const history = openHistory();
  history.add(entries);
  return history.read();
}

/** The latest renewals of a step. One line covers all of its locks. */
interface Rounds {
  readonly last: Renewed;
  /** The last earlier round of each path that the latest round leaves out. */
  readonly before: ReadonlyMap<string, Renewed | undefined>;
}

/** A lock as its own entries describe it. asRenewed() adds the renewals. */
interface RecordedLock extends JobLock {
  /** With the expiry of the grant. */
  readonly grant: Grant;
  /** Set once the lock is no longer renewed, to the last round that renewed it. */
  readonly renewed?: { readonly last: Renewed | undefined };
}

/** A history that grows with the ledger. */
export interface GrowingHistory {
  /** Entries must be in order: later ones have the results of earlier ones. */
  add(entries: readonly Entry[]): void;
  /** The lock of this grant, unless it has ended. */
  find(grant: Grant): JobLock | undefined;
  /** Whether the renewal of the step's locks has stopped. */
  hasStopped(step: string): boolean;
  read(): History;
}

export function openHistory(): GrowingHistory {
  const unanswered = new Map<string, Intent>();
  /** By path, then by idempotency key: a repeated request with the same key is about the same lock. */
  const held = new Map<string, Map<string, RecordedLock>>();
  const grants = new Map<string, Grant>();
  const endings = new Map<Grant, LockEnd>();
  const losses = new Map<string, Loss>();
  const rounds = new Map<string, Rounds>();
  const renewalError = new Map<string, string>();
  const stopped = new Set<string>();
  const stepNames = new Map<string, string>();

  function locksAt(address: LockAddress): Map<string, RecordedLock> {
    const key = addressKey(address);
    const locks = held.get(key) ?? new Map<string, RecordedLock>();
    held.set(key, locks);
    return locks;
  }

  function addRound(line: Renewed): void {
    const { step, except = [] } = line;
    const previous = rounds.get(step);
    rounds.set(step, { last: line, before: new Map(except.map((path) => [path, roundOf(path, previous)])) });
  }

  const lastOf = ({ grant, renewed }: RecordedLock): Renewed | undefined =>
    renewed === undefined ? lastRound(grant, rounds.get(grant.step)) : renewed.last;

  function asRenewed(lock: RecordedLock): JobLock {
    const { grant, releaseStarted, loss } = lock;
    const { expires_at } = lastOf(lock) ?? grant.lock;
    return { grant: { ...grant, lock: { ...grant.lock, expires_at } }, releaseStarted, loss };
  }

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
        const { at } = locks.get(entry.key)?.grant ?? entry;
        const grant = { ...entry, at };
        locks.delete(entry.key);
        locks.set(entry.key, { grant, releaseStarted: false });
        grants.set(`${entry.step} ${addressKey(entry)}`, grant);
        break;
      }
      case 'renewed':
        addRound(entry);
        renewalError.delete(entry.step);
        break;
      case 'unrenewed':
        renewalError.set(entry.step, entry.reason);
        break;
      case 'lost': {
        const locks = locksAt(entry);
        const lock = locks.get(entry.key);
        losses.set(entry.key, entry);
        if (lock !== undefined) locks.set(entry.key, { ...lock, renewed: { last: lastOf(lock) }, loss: entry });
        break;
      }
      case 'stop-renewing':
        stopped.add(entry.step);
        break;
      case 'releasing':
        locksAt(entry).forEach((lock, key, locks) => {
          if (isAbout(entry, lock.grant.lock))
            locks.set(key, { ...lock, renewed: { last: lastOf(lock) }, releaseStarted: true });
        });
        break;
      case 'ended':
        locksAt(entry).forEach(({ grant }, key, locks) => {
          if (!isAbout(entry, grant.lock)) return;
          locks.delete(key);
          endings.set(grant, entry);
        });
        break;
    }
  }

  return {
    add(entries) {
      for (const entry of entries) addEntry(entry);
    },
    find: (grant) => {
      const lock = held.get(addressKey(grant))?.get(grant.key);
      return lock && asRenewed(lock);
    },
    hasStopped: (step) => stopped.has(step),
    read: () => ({
      held: [...held.values()].flatMap((locks) => [...locks.values()].map(asRenewed)),
      unanswered: [...unanswered.values()],
      grants: [...grants.values()],
      endings,
      losses,
      renewalError,
      stepNames,
    }),
  };
}

/** Whether an entry is about this lock, by id or ETag. If neither can be compared, it is. */
const isAbout = (entry: Releasing | LockEnd, lock: GrantedLock): boolean => isSameLock(entry, lock) ?? true;

const addressKey = ({ service, workspace, path }: LockAddress): string => JSON.stringify([service, workspace, path]);

/** The last round that may have renewed the lock. */
function lastRound({ path, at }: Grant, rounds: Rounds | undefined): Renewed | undefined {
  const last = roundOf(path, rounds);
  return last === undefined || last.at < at ? undefined : last;
}

const roundOf = (path: string, rounds: Rounds | undefined): Renewed | undefined =>
  rounds?.before.has(path) ? rounds.before.get(path) : rounds?.last;

/** A job that has locked nothing has no ledger. */
function readContent(ledger: Ledger): LedgerContent {
  try {
    return ledger.read();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { entries: [], damaged: isMissing ? 0 : 1 };
  }
}
