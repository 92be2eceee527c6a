import type { KnownLock } from '../../client/client.ts';
import type { Grant, Intent, LeaseIntent, LockLocation, Loss } from '../../locks/ledger/entry.ts';
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
  | { readonly kind: 'unanswered'; readonly intent: Intent | LeaseIntent; readonly reason: string };

export interface ReleaseCandidate extends Omit<JobLock, 'releaseStarted'> {
  /** This job may already have released the lock: the release was started, or its record may be gone. */
  readonly mayBeReleased: boolean;
}

export interface ReleaseCandidates {
  readonly held: readonly ReleaseCandidate[];
  readonly unanswered: readonly Intent[];
  /** The lease of the step, if it may hold locks. */
  readonly lease: LeaseIntent | undefined;
  readonly ledgerError: string | undefined;
  /** The error of the last renewal; undefined if it succeeded, or none was due. */
  readonly renewalError?: string | undefined;
}

interface Records {
  readonly ledger: Pick<Ledger, 'file'> & ReturnType<Ledger['read']>;
  readonly step: string;
  /** The state that the runner kept for the step, if it had all its locks. */
  readonly savedState: SavedState | undefined;
}

/**
 * Reads the locks of a step in the ledger. If a part of it is missing, the state kept by the runner completes it. That
 * does not show later releases, so locks from there are released only with proof of ownership.
 */
export function readCandidates({ ledger, step, savedState }: Records): ReleaseCandidates {
  const { entries, problem } = ledger;
  const history = historyOf(entries);
  const ofStep = entries.filter((entry) => 'step' in entry && entry.step === step);
  const isComplete = savedState === undefined || ofStep.some(({ kind }) => kind === 'acquired');
  const hasIntent = ofStep.some(({ kind }) => kind === 'intent' || kind === 'lease');
  const error =
    problem ??
    (isComplete && hasIntent ? undefined : `The ledger in ${ledger.file} lacks entries that this step wrote.`);
  const held = history.held
    .filter(({ grant }) => grant.step === step)
    .map(({ releaseStarted, ...lock }) => ({ ...lock, mayBeReleased: releaseStarted || error !== undefined }));
  const known = {
    unanswered: history.unanswered.filter((intent) => intent.step === step),
    lease: history.leases.find((lease) => lease.step === step),
  };
  if (error === undefined) {
    return { held, ...known, ledgerError: undefined, renewalError: history.renewalError.get(step) };
  }
  const granted = new Set(entries.flatMap((entry) => (entry.kind === 'granted' ? identityOf(entry) : [])));
  const missing = savedGrants(savedState, step).filter((grant) => !granted.has(identityOf(grant)));
  // The process that renews the locks outlives the ledger, and writes a new one.
  const losses = new Map(
    [...history.losses.values()].filter((loss) => loss.step === step).map((loss) => [loss.path, loss]),
  );
  const candidates = [...held, ...missing.map((grant) => ({ grant, mayBeReleased: true }))];
  const leased = held.find(({ grant }) => grant.lock.lease !== undefined)?.grant;
  const lease =
    known.lease ??
    leaseOf(savedState?.leasedPath === undefined ? leased : { ...savedState, path: savedState.leasedPath }, step);
  const rest =
    candidates.length + known.unanswered.length > 0 || lease !== undefined
      ? 'The known locks are released if they can be verified to belong to this step.'
      : 'The locks of this step are unknown. They stay until their ttl expires.';
  return {
    held: candidates.map((one) => ({ ...one, loss: losses.get(one.grant.path) })),
    unanswered: known.unanswered,
    lease,
    ledgerError: `${error} ${rest}`,
  };
}

function savedGrants(saved: SavedState | undefined, step: string): readonly Grant[] {
  if (saved === undefined) return [];
  const { service, workspace, locks } = saved;
  return locks.map((lock) => {
    return { kind: 'granted', service, workspace, path: lock.path, step, at: '', key: '', waitedMs: 0, lock };
  });
}

/** The id of the lease is that of the step. */
function leaseOf(found: LockLocation | undefined, step: string): LeaseIntent | undefined {
  if (found === undefined) return undefined;
  const { service, workspace, path } = found;
  return { kind: 'lease', service, workspace, step, lease: step, path, type: '', ttl: '1s', at: '' };
}

const identityOf = ({ path, lock }: Grant): string => JSON.stringify([path, lock.id, lock.etag, lock.acquired_at]);
