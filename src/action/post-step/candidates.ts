import { readFileSync } from 'node:fs';
import type { KnownLock } from '../../client/client.ts';
import {
  type Grant,
  type GrantedLock,
  type Intent,
  isGrantedLock,
  type LeaseIntent,
  type Loss,
} from '../../locks/ledger/entry.ts';
import { historyOf, type JobLock } from '../../locks/ledger/history.ts';
import type { Ledger } from '../../locks/ledger/ledger.ts';
import type { SavedState } from '../step/saved-state.ts';

export type CandidateResult =
  | { readonly kind: 'released'; readonly grant: Grant }
  | { readonly kind: 'already-ended'; readonly grant: Grant }
  /** The lock ended although the job had not released it. */
  | {
      readonly kind: 'lost';
      readonly grant: Grant;
      /** The current holder; `nobody` only if the lock could not be renewed. */
      readonly holder: KnownLock | 'nobody' | undefined;
      readonly loss?: Loss | undefined;
      readonly renewalError?: string | undefined;
      readonly grantedAgain?: boolean | undefined;
    }
  /** Another job holds the path, and this job may have released its own lock before. */
  | { readonly kind: 'taken-over'; readonly grant: Grant; readonly holder: KnownLock | undefined }
  /** The current lock may be another job's. */
  | { readonly kind: 'ambiguous'; readonly grant: Grant }
  | {
      readonly kind: 'failed';
      readonly grant: Grant;
      readonly reason: string;
      readonly request?: string | undefined;
    }
  /** The request may have been granted. */
  | { readonly kind: 'unanswered'; readonly intent: Intent; readonly reason: string };

export interface ReleaseCandidate extends Omit<JobLock, 'releaseStarted'> {
  /** The reason why this job may already have released the lock; undefined if it cannot have. */
  readonly releaseStatus: 'release-started' | 'records-damaged' | undefined;
}

export interface ReleaseCandidates {
  readonly held: readonly ReleaseCandidate[];
  readonly unanswered: readonly Intent[];
  /** Leases that may hold locks. */
  readonly leases: readonly LeaseIntent[];
  readonly ledgerError: string | undefined;
  /** The error of the last renewal; undefined if it succeeded, or none was due. */
  readonly renewalError?: string | undefined;
}

interface Records {
  readonly ledger: Pick<Ledger, 'file'> & ReturnType<Ledger['read']>;
  readonly step: string;
  /** The file that the step wrote when it had all its locks. */
  readonly locksFile: string;
  /** The state that the runner kept for the step, if it had all its locks. */
  readonly savedState: SavedState | undefined;
}

/**
 * Reads the locks of a step in the ledger. If a part of it is missing, the state kept by the runner and the step's file
 * of locks complete it. They do not show later releases, so locks from there are released only with proof of ownership.
 */
export function readCandidates(records: Records): ReleaseCandidates {
  const { ledger, step } = records;
  const { entries, problem } = ledger;
  const history = historyOf(entries);
  const held = history.held.filter(({ grant }) => grant.step === step);
  const unanswered = history.unanswered.filter((intent) => intent.step === step);
  const leases = history.leases.filter((lease) => lease.step === step);

  const mentioned = new Set(entries.flatMap((entry) => (entry.kind === 'granted' ? [keyOf(entry.lock)] : [])));
  const missing = savedGrants(records).filter(({ lock }) => !mentioned.has(keyOf(lock)));
  const hasIntent = entries.some((entry) => (entry.kind === 'intent' || entry.kind === 'lease') && entry.step === step);
  const ledgerError =
    problem ??
    (missing.length > 0 || !hasIntent ? `The ledger in ${ledger.file} lacks entries that this step wrote.` : undefined);
  if (ledgerError === undefined) {
    const candidates = held.map(({ grant, releaseStarted, ...rest }) => ({
      ...rest,
      grant,
      releaseStatus: releaseStarted ? ('release-started' as const) : undefined,
    }));
    return { held: candidates, unanswered, leases, ledgerError, renewalError: history.renewalError.get(step) };
  }
  const candidates = [...held.map(({ grant }) => grant), ...missing];
  const known = leases.length > 0 ? leases : savedLeases(records);
  const rest =
    candidates.length + unanswered.length + known.length > 0
      ? 'The known locks are released if they can be verified to belong to this step.'
      : 'The locks of this step are unknown. They stay until their ttl expires.';
  // The process that renews the locks outlives the ledger, and writes a new one.
  const losses = new Map(
    [...history.losses.values()].filter((loss) => loss.step === step).map((loss) => [loss.path, loss]),
  );
  return {
    held: candidates.map((grant) => ({ grant, releaseStatus: 'records-damaged', loss: losses.get(grant.path) })),
    unanswered,
    leases: known,
    ledgerError: `${ledgerError} ${rest}`,
  };
}

/** The locks in the state kept by the runner or, if there were too many for that, in the step's file. */
function savedGrants({ savedState, step, locksFile }: Records): readonly Grant[] {
  if (savedState === undefined) return [];
  const { service, workspace } = savedState;
  return (savedState.locks ?? locksIn(locksFile)).map((lock) => {
    const { path } = lock;
    return { kind: 'granted', service, workspace, path, step, at: '', key: '', waitedMs: 0, lock };
  });
}

/** The lease of a step with too many locks for the state: its id is that of the step. */
function savedLeases({ savedState, step }: Records): readonly LeaseIntent[] {
  if (savedState?.leasedPath === undefined) return [];
  const { service, workspace, leasedPath: path } = savedState;
  return [{ kind: 'lease', service, workspace, step, lease: step, path, type: '', ttl: '1s', at: '' }];
}

function locksIn(file: string): readonly GrantedLock[] {
  try {
    const locks: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(locks) ? locks.filter(isGrantedLock) : [];
  } catch {
    return [];
  }
}

const keyOf = ({ path, id, etag, acquired_at }: GrantedLock): string => JSON.stringify([path, id, etag, acquired_at]);
