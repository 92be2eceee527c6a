import type { LockPath } from '../../interface/lock-path.ts';
import { parseLockPath } from '../../interface/lock-path.ts';
import { type HeldLock, historyOf } from './history.ts';
import type { Ledger, LedgerContent } from './ledger.ts';

/** What the ledger of a job knows of the locks in one workspace. */
export interface JobLocks {
  readonly held: ReadonlyMap<LockPath, HeldLock>;
  /** Every path that a step of the job has asked for. */
  readonly wanted: ReadonlySet<string>;
  /** What a person calls the steps, by their ids in the ledger. */
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
  const here = (place: { readonly service: string; readonly workspace: string }): boolean =>
    place.service === service && place.workspace === workspace;
  const { held, stepNames } = historyOf(entries);
  const byPath = new Map<LockPath, HeldLock>();
  for (const lock of held) {
    const path = parseLockPath(lock.grant.path);
    if (path.ok && here(lock.grant)) byPath.set(path.value, lock);
  }
  return {
    held: byPath,
    wanted: new Set(entries.flatMap((entry) => (entry.kind === 'wish' && here(entry) ? entry.paths : []))),
    stepNames,
    damaged: damaged > 0,
  };
}
