import type { LockPath } from '../../interface/lock-path.ts';
import type { Context } from '../context.ts';
import type { TaskOf } from '../inputs/load.ts';
import type { HandoffLock } from '../inputs/parse.ts';
import { type JobLocks, readJobLocks } from '../ledger/history.ts';
import { loadHandoff } from '../locks/handoff.ts';
import type { OwnLock } from '../locks/ownership.ts';
import { type ResolvedPath, resolvePaths } from '../paths/resolve-paths.ts';

/** What an unlock means by a path. */
export type UnlockTarget = { readonly path: LockPath } & (
  | {
      readonly kind: 'lock';
      readonly lock: OwnLock;
      /** This job may have released it already. */
      readonly doubtful: boolean;
      readonly asked: 'by-name' | 'by-pattern';
    }
  /** The job never meant to lock the path, and names it: whatever lock is found there. */
  | { readonly kind: 'path' }
  /** The job meant to lock it, and has no lock on it: one that is there is somebody else's. */
  | { readonly kind: 'not-ours' }
  /** A pattern matches it, and the job has no lock on it: a pattern stands for what the job holds. */
  | { readonly kind: 'matched' }
);

export const fromHandoff = ({ path, ...lock }: HandoffLock): UnlockTarget => ({
  kind: 'lock',
  path,
  lock,
  doubtful: false,
  asked: 'by-name',
});

/** The lock that this job has on the path, if its ledger knows of the path. */
export function resolveFromLedger({ kind, path }: ResolvedPath, { held, planned, damaged }: JobLocks): UnlockTarget {
  const lock = held.get(path);
  if (lock !== undefined) {
    const { grant, releaseBegun } = lock;
    const asked = kind === 'matched' ? 'by-pattern' : 'by-name';
    const own = { ...grant.lock, grantedAt: grant.at };
    return { kind: 'lock', path, lock: own, doubtful: releaseBegun || damaged, asked };
  }
  if (kind === 'matched') return { kind: 'matched', path };
  if (planned.has(path)) return { kind: 'not-ours', path };
  // What is missing of the ledger may be about this path.
  return damaged ? { kind: 'lock', path, lock: {}, doubtful: true, asked: 'by-name' } : { kind: 'path', path };
}

/** Everything that the inputs name, before the first request. */
export async function unlockTargets(context: Context, task: TaskOf<'unlock'>): Promise<readonly UnlockTarget[]> {
  const { ledger, connection, runner } = context;
  const { selection, workspace, force } = task;
  switch (selection.kind) {
    case 'paths': {
      const jobLocks = readJobLocks(ledger, connection.baseUrl, workspace);
      const lockedPaths = [...jobLocks.held.keys()];
      const resolved = await resolvePaths(selection.paths, { checkout: runner.checkout, lockedPaths });
      // With `force`, it does not matter whose lock is there.
      return resolved.map((each) => (force ? { kind: 'path', path: each.path } : resolveFromLedger(each, jobLocks)));
    }
    case 'locks':
    case 'locks-file':
      return loadHandoff(selection).map(fromHandoff);
  }
}
