import type { LockPath } from '../../interface/lock-path.ts';
import type { JobLocks } from '../ledger/job-locks.ts';
import type { ResolvedPath } from '../paths/resolve-paths.ts';
import type { HandedLock } from './handed-locks.ts';
import type { OwnLock } from './ownership.ts';

/** What an unlock is to release. */
export type MeantLock = { readonly path: LockPath } & (
  | { readonly kind: 'lock'; readonly lock: OwnLock; readonly doubtful: boolean }
  /** The job never asked for the path, and names it: the lock that is found there is meant. */
  | { readonly kind: 'path' }
  /** The job wanted it, and has no lock on it: one that is there is somebody else's. */
  | { readonly kind: 'not-ours' }
  /** A pattern matches it, and the job has no lock on it: a pattern means what the job holds. */
  | { readonly kind: 'matched' }
);

export const asHanded = ({ path, ...lock }: HandedLock): MeantLock => ({ kind: 'lock', path, lock, doubtful: false });

/** With `force`, it does not matter whose lock is there. */
export const asForced = ({ path }: ResolvedPath): MeantLock => ({ kind: 'path', path });

/** What is meant by a path: the lock that this job has there, if its ledger knows of the path. */
export function meantIn({ held, wanted, damaged }: JobLocks): (resolved: ResolvedPath) => MeantLock {
  return ({ kind, path }) => {
    const lock = held.get(path);
    if (lock !== undefined) {
      const { grant, releaseBegun } = lock;
      return { kind: 'lock', path, lock: { ...grant.lock, grantedAt: grant.at }, doubtful: releaseBegun || damaged };
    }
    if (kind === 'matched') return { kind: 'matched', path };
    if (wanted.has(path)) return { kind: 'not-ours', path };
    // What is missing may be about this path.
    return damaged ? { kind: 'lock', path, lock: {}, doubtful: true } : { kind: 'path', path };
  };
}
