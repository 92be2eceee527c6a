import { type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import type { Ending, Entry, Grant, GrantedLock, Intent, LockAddress, Releasing } from './entry.ts';
import type { Ledger, LedgerContent } from './ledger.ts';

export interface HeldLock {
  readonly grant: Grant;
  /** Its release was begun, and it is not known how that went. */
  readonly releaseBegun: boolean;
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
  /** What the workflow calls the steps, by their ids in the ledger. */
  readonly stepNames: ReadonlyMap<string, string>;
}

/** Whether an entry is about this lock. One that names no lock is about whatever was held there. */
function isAbout({ etag, id }: Releasing | Ending, lock: GrantedLock): boolean {
  if (etag !== undefined && lock.etag !== undefined) return etag === lock.etag;
  if (id !== undefined && lock.id !== undefined) return id === lock.id;
  return true;
}

const keyOf = ({ service, workspace, path }: LockAddress): string => JSON.stringify([service, workspace, path]);

/** Reads entries in their order: later ones say what became of earlier ones. */
export function historyOf(entries: readonly Entry[]): History {
  const unclear = new Map<string, Intent>();
  /** Per path, by the keys of their requests: a request that is repeated under its key is about the same lock. */
  const held = new Map<string, Map<string, HeldLock>>();
  const grants = new Map<string, Grant>();
  const endings = new Map<Grant, Ending>();
  const stepNames = new Map<string, string>();
  function locksAt(address: LockAddress): Map<string, HeldLock> {
    const key = keyOf(address);
    const locks = held.get(key) ?? new Map<string, HeldLock>();
    held.set(key, locks);
    return locks;
  }
  for (const entry of entries) {
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
        locks.set(entry.key, { grant: entry, releaseBegun: false });
        grants.set(`${entry.step} ${keyOf(entry)}`, entry);
        break;
      }
      case 'releasing':
        locksAt(entry).forEach(({ grant }, key, locks) => {
          if (isAbout(entry, grant.lock)) locks.set(key, { grant, releaseBegun: true });
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
    held: [...held.values()].flatMap((locks) => [...locks.values()]),
    unclear: [...unclear.values()],
    grants: [...grants.values()],
    endings,
    stepNames,
  };
}

/** What the ledger of a job knows of the locks in one workspace. */
export interface JobLocks {
  readonly held: ReadonlyMap<LockPath, HeldLock>;
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
  return {
    held: byPath,
    planned: new Set(entries.flatMap((entry) => (entry.kind === 'plan' && isHere(entry) ? entry.paths : []))),
    stepNames,
    damaged: damaged > 0,
  };
}
