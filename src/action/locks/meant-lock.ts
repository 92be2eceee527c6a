import type { LockPath } from '../../interface/lock-path.ts';
import type { Entry } from '../ledger/entry.ts';
import { historyOf } from '../ledger/history.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HandedLock } from './handed-locks.ts';
import type { OwnLock } from './ownership.ts';

/** What an unlock is to release. */
export type MeantLock = { readonly path: LockPath } & (
  | { readonly kind: 'lock'; readonly lock: OwnLock; readonly doubtful: boolean }
  /** Only the path is known: whatever lock is there is meant. */
  | { readonly kind: 'path' }
  /** This job wanted it, and has no lock on it: one that is there is somebody else's. */
  | { readonly kind: 'not-ours' }
);

export const asHanded = ({ path, ...lock }: HandedLock): MeantLock => ({ kind: 'lock', path, lock, doubtful: false });

export const asNamed = (path: LockPath): MeantLock => ({ kind: 'path', path });

interface Known {
  readonly entries: readonly Entry[];
  /** Something of it is missing. */
  readonly damaged: boolean;
}

/** A job that has locked nothing has no ledger. */
function readKnown(ledger: Ledger): Known {
  try {
    const { entries, damaged } = ledger.read();
    return { entries, damaged: damaged > 0 };
  } catch (error) {
    return { entries: [], damaged: !(error instanceof Error && 'code' in error && error.code === 'ENOENT') };
  }
}

/** What is meant by a path: the lock that this job has there, if its ledger knows of the path. */
export function meantIn(ledger: Ledger, service: string, workspace: string): (path: LockPath) => MeantLock {
  const { entries, damaged } = readKnown(ledger);
  const here = (place: { readonly service: string; readonly workspace: string }): boolean =>
    place.service === service && place.workspace === workspace;
  const held = new Map(
    historyOf(entries)
      .held.filter(({ grant }) => here(grant))
      .map((lock) => [lock.grant.path, lock]),
  );
  const wanted = new Set(entries.flatMap((entry) => (entry.kind === 'wish' && here(entry) ? entry.paths : [])));
  return (path) => {
    const lock = held.get(path);
    if (lock !== undefined) {
      const { grant, releaseBegun } = lock;
      return { kind: 'lock', path, lock: { ...grant.lock, grantedAt: grant.at }, doubtful: releaseBegun || damaged };
    }
    if (wanted.has(path)) return { kind: 'not-ours', path };
    // What is missing may be about this path.
    return damaged ? { kind: 'lock', path, lock: {}, doubtful: true } : asNamed(path);
  };
}
