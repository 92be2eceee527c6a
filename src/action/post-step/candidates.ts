import type { KnownLock } from '../../client/client.ts';
import type { Entry, Grant, Intent, LeaseIntent, Loss } from '../../locks/ledger/entry.ts';
import { historyOf, type JobLock } from '../../locks/ledger/history.ts';
import type { Ledger } from '../../locks/ledger/ledger.ts';

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
  /** The current lock may be another job's: nothing identifies ours, or this job may have released it before. */
  | {
      readonly kind: 'left-alone';
      readonly grant: Grant;
      readonly holder?: KnownLock | undefined;
      readonly why: 'no-proof' | 'ledger-damaged';
    }
  | { readonly kind: 'failed'; readonly grant: Grant; readonly reason: string }
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
  /** Lines of the ledger that the runner kept, too, once the step had all its locks. */
  readonly saved: readonly Entry[];
}

/**
 * Reads the locks of a step in the ledger, and in the lines that the runner kept. If a part of the ledger is missing,
 * these do not show later releases, so their locks are released only with proof of ownership.
 */
export function readCandidates({ ledger, step, saved }: Records): ReleaseCandidates {
  const { entries, problem, file } = ledger;
  const history = historyOf([...saved, ...entries]);
  const kinds = new Set(entries.flatMap((entry) => ('step' in entry && entry.step === step ? entry.kind : [])));
  const isComplete = (kinds.has('intent') || kinds.has('lease')) && (kinds.has('acquired') || saved.length === 0);
  const error = problem ?? (isComplete ? undefined : `The ledger in ${file} lacks entries that this step wrote.`);
  const held = history.held
    .filter(({ grant }) => grant.step === step)
    .map(({ releaseStarted, ...lock }) => ({ ...lock, mayBeReleased: releaseStarted || error !== undefined }));
  const unanswered = history.unanswered.filter((intent) => intent.step === step);
  const leased = held.find(({ grant }) => grant.lock.lease !== undefined);
  const lease = history.leases.find((each) => each.step === step) ?? (leased && leaseOf(leased.grant));
  if (error === undefined) {
    return { held, unanswered, lease, ledgerError: undefined, renewalError: history.renewalError.get(step) };
  }
  const rest =
    held.length + unanswered.length > 0 || lease !== undefined
      ? 'The known locks are released if they can be verified to belong to this step.'
      : 'The locks of this step are unknown. They stay until their ttl expires.';
  return { held, unanswered, lease, ledgerError: `${error} ${rest}` };
}

/** The lease of a lock, whose own line is missing. */
const leaseOf = ({ service, workspace, path, step, at, lock: { type } }: Grant): LeaseIntent => {
  return { kind: 'lease', service, workspace, path, step, lease: step, type, ttl: '1s', at };
};
