import { type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import type { Ending, Entry, Grant, GrantedLock, Intent, LockAddress, Loss, Releasing, Renewed } from './entry.ts';
import type { Ledger, LedgerContent } from './ledger.ts';

export interface HeldLock {
  /** With the end that the last renewal gave it. */
  readonly grant: Grant;
  /** Its release was begun, and it is not known how that went. */
  readonly releaseBegun: boolean;
  /** The service has refused to renew it. */
  readonly loss?: Loss | undefined;
}

/** What became of everything that the steps of a job have asked for. */
export interface History {
  /** Granted, and not known to have ended. */
  readonly held: readonly HeldLock[];
  /** Asked for, and never answered as far as the ledger knows. */
  readonly unclear: readonly Intent[];
  /** The last grant of each step and path, also of locks that have ended since. */
  readonly grants: readonly Grant[];
  /** How locks ended, where that is known. */
  readonly endings: ReadonlyMap<Grant, Ending>;
  /** By the ids of the steps, in their order. */
  readonly renewals: ReadonlyMap<string, readonly Renewed[]>;
  /** Why locks of a step could not be renewed the last time, where that is so; by the ids of the steps. */
  readonly renewalTrouble: ReadonlyMap<string, string>;
  /** The steps whose locks are not to be renewed any more. */
  readonly stopped: ReadonlySet<string>;
  /** What the workflow calls the steps, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
}

/** Whether an entry is about this lock. One that names no lock is about whatever was held there. */
function isAbout({ etag, id }: Releasing | Ending, lock: GrantedLock): boolean {
  if (etag !== undefined && lock.etag !== undefined) return etag === lock.etag;
  if (id !== undefined && lock.id !== undefined) return id === lock.id;
  return true;
}

const addressKey = ({ service, workspace, path }: LockAddress): string => JSON.stringify([service, workspace, path]);

/** Some rounds of renewals were before it was granted; from when it is lost or released on, it is left out of them. */
interface RecordedLock extends HeldLock {
  readonly firstRound: number;
  readonly endRound?: number | undefined;
}

/** The lock as the last renewal left it. The locks of a step are renewed together, and one line says so of all. */
function renewedLock({ firstRound, endRound, ...lock }: RecordedLock, rounds: readonly Renewed[]): HeldLock {
  const { grant } = lock;
  // From the last on: it is nearly always that one, and there may be thousands.
  for (let number = (endRound ?? rounds.length) - 1; number >= firstRound; number -= 1) {
    const { expires_at, except = [] } = rounds[number] ?? {};
    if (expires_at === undefined || except.includes(grant.path)) continue;
    return { ...lock, grant: { ...grant, lock: { ...grant.lock, expires_at } } };
  }
  return lock;
}

/** A history that goes on with the ledger. */
export interface GrowingHistory {
  /** Entries in their order: later ones say what became of earlier ones. */
  add(entries: readonly Entry[]): void;
  read(): History;
}

export function openHistory(): GrowingHistory {
  const unclear = new Map<string, Intent>();
  /** Per path, by the keys of their requests: a request that is repeated under its key is about the same lock. */
  const held = new Map<string, Map<string, RecordedLock>>();
  const grants = new Map<string, Grant>();
  const endings = new Map<Grant, Ending>();
  const renewals = new Map<string, Renewed[]>();
  const renewalTrouble = new Map<string, string>();
  const stopped = new Set<string>();
  const stepNames = new Map<string, string>();

  function locksAt(address: LockAddress): Map<string, RecordedLock> {
    const key = addressKey(address);
    const locks = held.get(key) ?? new Map<string, RecordedLock>();
    held.set(key, locks);
    return locks;
  }

  function roundsOf(step: string): Renewed[] {
    const rounds = renewals.get(step) ?? [];
    renewals.set(step, rounds);
    return rounds;
  }

  const left = (lock: RecordedLock): RecordedLock => ({
    ...lock,
    endRound: lock.endRound ?? roundsOf(lock.grant.step).length,
  });

  function addEntry(entry: Entry): void {
    switch (entry.kind) {
      case 'plan':
        if (entry.stepName !== undefined) stepNames.set(entry.step, entry.stepName);
        break;
      case 'intent':
        unclear.set(entry.key, entry);
        break;
      case 'denied':
        unclear.delete(entry.key);
        break;
      case 'granted': {
        unclear.delete(entry.key);
        const locks = locksAt(entry);
        locks.delete(entry.key);
        locks.set(entry.key, { grant: entry, releaseBegun: false, firstRound: roundsOf(entry.step).length });
        grants.set(`${entry.step} ${addressKey(entry)}`, entry);
        break;
      }
      case 'renewed':
        roundsOf(entry.step).push(entry);
        renewalTrouble.delete(entry.step);
        break;
      case 'unrenewed':
        renewalTrouble.set(entry.step, entry.why);
        break;
      case 'lost': {
        const locks = locksAt(entry);
        const lock = locks.get(entry.key);
        if (lock !== undefined) locks.set(entry.key, { ...left(lock), loss: entry });
        break;
      }
      case 'stop-renewing':
        stopped.add(entry.step);
        break;
      case 'releasing':
        locksAt(entry).forEach((lock, key, locks) => {
          if (isAbout(entry, lock.grant.lock)) locks.set(key, { ...left(lock), releaseBegun: true });
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
    read: () => ({
      held: [...held.values()].flatMap((locks) =>
        [...locks.values()].map((lock) => renewedLock(lock, renewals.get(lock.grant.step) ?? [])),
      ),
      unclear: [...unclear.values()],
      grants: [...grants.values()],
      endings,
      renewals,
      renewalTrouble,
      stopped,
      stepNames,
    }),
  };
}

export function historyOf(entries: readonly Entry[]): History {
  const history = openHistory();
  history.add(entries);
  return history.read();
}

/** What the ledger of a job knows of the locks in one workspace. */
export interface JobLocks {
  readonly held: ReadonlyMap<LockPath, HeldLock>;
  /** Other workspaces, also of other services, in which the job holds locks. */
  readonly otherWorkspaces: readonly string[];
  /** Those of them that the service has refused to renew. */
  readonly lost: readonly Loss[];
  /** Every path that a step of the job meant to lock. */
  readonly planned: ReadonlySet<string>;
  /** What the workflow calls the steps, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
  /** Something of the ledger is missing. */
  readonly damaged: boolean;
}

/** A job that has locked nothing has no ledger. */
function readContent(ledger: Ledger): LedgerContent {
  try {
    return ledger.read();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { entries: [], damaged: isMissing ? 0 : 1 };
  }
}

export function readJobLocks(ledger: Ledger, service: string, workspace: string): JobLocks {
  const { entries, damaged } = readContent(ledger);
  const isHere = (entry: Pick<LockAddress, 'service' | 'workspace'>): boolean =>
    entry.service === service && entry.workspace === workspace;
  const { held, stepNames } = historyOf(entries);
  const byPath = new Map<LockPath, HeldLock>();
  for (const lock of held) {
    const path = parseLockPath(lock.grant.path);
    if (path.ok && isHere(lock.grant)) byPath.set(path.value, lock);
  }
  const elsewhere = held.filter(({ grant, releaseBegun }) => !releaseBegun && !isHere(grant));
  return {
    held: byPath,
    otherWorkspaces: [...new Set(elsewhere.map(({ grant }) => grant.workspace))],
    lost: held.flatMap(({ grant, loss }) => (loss !== undefined && isHere(grant) ? [loss] : [])),
    planned: new Set(entries.flatMap((entry) => (entry.kind === 'plan' && isHere(entry) ? entry.paths : []))),
    stepNames,
    damaged: damaged > 0,
  };
}
