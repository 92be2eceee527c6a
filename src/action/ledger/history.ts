import { isSameLock } from '../../client/known-lock.ts';
import { type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import type { Entry, Grant, GrantedLock, Intent, LockAddress, LockEnd, Loss, Releasing, Renewed } from './entry.ts';
import type { Ledger, LedgerContent } from './ledger.ts';

/** A workspace of a service. */
export type LockPlace = Pick<LockAddress, 'service' | 'workspace'>;

/** A lock as another step passes it on. */
type NamedLock = Pick<GrantedLock, 'path' | 'id' | 'etag'>;

/**
 * Where the job holds locks; if it holds none, where its steps tried to lock. With `named`, where its steps were granted
 * all of these locks: locks of another job may be anywhere.
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
  /** With the end that the last renewal gave it. */
  readonly grant: Grant;
  /** Its release was started, with unknown result. */
  readonly releaseStarted: boolean;
  /** The service has refused to renew it. */
  readonly loss?: Loss | undefined;
}

/** The locks of a job in one workspace, from its ledger. */
export interface JobLocks {
  readonly held: ReadonlyMap<LockPath, JobLock>;
  /** The locks that the service refused to renew. */
  readonly lost: readonly Loss[];
  /** Other workspaces, also of other services, in which the job holds locks. */
  readonly otherWorkspaces: readonly string[];
  /** Every path that a step of the job meant to lock. */
  readonly planned: ReadonlySet<string>;
  /** What the workflow calls the steps, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
  /** Something of the ledger is missing. */
  readonly damaged: boolean;
}

/** Whether the job holds a lock on the path. The ledger is read when this is first asked. */
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

/** The result of every request of the job's steps. */
export interface History {
  /** Granted, and not known to have ended. */
  readonly held: readonly JobLock[];
  /** Asked for, and never answered as far as the ledger knows. */
  readonly unanswered: readonly Intent[];
  /** The last grant of each step and path, also of locks that have ended since. */
  readonly grants: readonly Grant[];
  /** How locks ended, where that is known. */
  readonly endings: ReadonlyMap<Grant, LockEnd>;
  /** Lost locks, by the idempotency key of the request that acquired them. */
  readonly losses: ReadonlyMap<string, Loss>;
  /** Why locks of a step could not be renewed the last time, where that is so; by the ids of the steps. */
  readonly renewalError: ReadonlyMap<string, string>;
  /** What the workflow calls the steps, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
}

export function historyOf(entries: readonly Entry[]): History {
  const history = openHistory();
  history.add(entries);
  return history.read();
}

/** The locks of a step are renewed together, and one line says so of all. */
/** The latest renewals of a step. */
interface Rounds {
  readonly last: Renewed;
  /** The round before, for each path that the last one leaves out. */
  readonly before: ReadonlyMap<string, Renewed | undefined>;
}

/** As the entries tell it one by one. */
interface RecordedLock extends JobLock {
  /** As it was granted. */
  readonly grant: Grant;
  /** The last one, where the lock is not renewed any more. */
  readonly renewed?: { readonly last: Renewed | undefined };
}

/** A history that follows the ledger. */
export interface GrowingHistory {
  /** Entries in order: later ones have the results of earlier ones. */
  add(entries: readonly Entry[]): void;
  /** The lock that this request was granted, unless it has ended. */
  find(grant: Grant): JobLock | undefined;
  /** Whether the locks of the step are not to be renewed any more. */
  hasStopped(step: string): boolean;
  read(): History;
}

export function openHistory(): GrowingHistory {
  const unanswered = new Map<string, Intent>();
  /** Per path, by the keys of their requests: a request that is repeated under its key is about the same lock. */
  const held = new Map<string, Map<string, RecordedLock>>();
  const grants = new Map<string, Grant>();
  const endings = new Map<Grant, LockEnd>();
  const losses = new Map<string, Loss>();
  const rounds = new Map<string, Rounds>();
  /** For the next round of each step. */
  const leftOut = new Map<string, readonly string[]>();
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
    const earlier = leftOut.get(step) ?? [];
    const round = earlier.length === 0 ? line : { ...line, except: [...earlier, ...except] };
    leftOut.delete(step);
    const before = (round.except ?? []).map((path) => [path, roundOf(path, previous)] as const);
    rounds.set(step, { last: round, before: new Map(before) });
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
        // The same lock once more: a renewal has given it another ETag.
        const { at } = locks.get(entry.key)?.grant ?? entry;
        const grant = { ...entry, at };
        locks.delete(entry.key);
        locks.set(entry.key, { grant, releaseStarted: false });
        grants.set(`${entry.step} ${addressKey(entry)}`, grant);
        break;
      }
      case 'left-out':
        leftOut.set(entry.step, [...(leftOut.get(entry.step) ?? []), ...entry.paths]);
        break;
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

/** Whether an entry is about this lock. One that names no lock is about whatever was held there. */
const isAbout = (entry: Releasing | LockEnd, lock: GrantedLock): boolean => isSameLock(entry, lock) ?? true;

const addressKey = ({ service, workspace, path }: LockAddress): string => JSON.stringify([service, workspace, path]);

/** The last round that can have renewed the lock. */
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
