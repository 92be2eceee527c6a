import type { Entry, Grant, Intent, LeaseIntent } from '../../locks/ledger/entry.ts';
import { historyOf, type JobLock } from '../../locks/ledger/history.ts';
import type { Ledger } from '../../locks/ledger/ledger.ts';

export interface ReleaseCandidates {
  readonly held: readonly JobLock[];
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
    .map((lock) => ({ ...lock, mayBeReleased: lock.mayBeReleased || error !== undefined }));
  const unanswered = history.unanswered.filter((intent) => intent.step === step);
  const leased = held.find(({ grant }) => grant.lock.lease !== undefined);
  const lease = history.leases.find((each) => each.step === step) ?? (leased && leaseOf(leased.grant));
  if (error === undefined) {
    return { held, unanswered, lease, ledgerError: undefined, renewalError: history.renewalError.get(step) };
  }
  return { held, unanswered, lease, ledgerError: `${error} Locks that it does not list stay until their ttl expires.` };
}

/** The lease of a lock, whose own line is missing. */
const leaseOf = ({ service, workspace, path, step, at, lock: { type } }: Grant): LeaseIntent => {
  return { kind: 'lease', service, workspace, path, step, lease: step, type, ttl: '1s', at };
};
