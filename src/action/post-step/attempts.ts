import type { CallLimits, KnownLock, ServiceError } from '../../client/client.ts';
import type { Grant, Intent } from '../../locks/ledger/entry.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import type { LockSession } from '../../locks/session.ts';
import type { Context } from '../step/context.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './candidates.ts';

/**
 * One attempt to settle a lock or an intent. `sentAt` is the time of the first attempt that may have released the lock
 * although its response was lost.
 */
export type ReleaseAttempt = (sentAt: number | undefined) => Promise<ReleaseAttemptResult>;

/** The result is undefined if the lock was never granted. */
type ReleaseAttemptResult =
  | { readonly result: CandidateResult | undefined; readonly error?: undefined }
  | FailedReleaseAttempt;

/** Another attempt may succeed. */
export interface FailedReleaseAttempt {
  readonly result: CandidateResult;
  readonly error: ServiceError;
  /** The service may have released the lock despite the error. */
  readonly mayBeDone: boolean;
}

export interface ReleaseAttemptContext
  extends Pick<Context, 'clock'>,
    Pick<ReleaseCandidates, 'ledgerError' | 'renewalError'> {
  readonly session: LockSession;
  readonly serverNow: () => number;
  /** The current service. Its token must not be sent to another one. */
  readonly service: string;
  readonly within: CallLimits;
}

/** Releases a lock if it is provably ours. */
export async function releaseCandidate(
  { session, clock, serverNow, service, renewalError, within }: ReleaseAttemptContext,
  candidate: ReleaseCandidate,
  sentAt: number | undefined,
): Promise<ReleaseAttemptResult> {
  const { grant, loss, grantedAgain } = candidate;
  if (grant.service !== service) return { result: failedResult(candidate, elsewhereText(grant.service, service)) };
  const releaseStatus = candidate.releaseStatus ?? (sentAt === undefined ? undefined : 'release-started');
  const current: ReleaseCandidate = { ...candidate, releaseStatus };
  const released = await session.release(grant, within, {
    mayBeReleased: releaseStatus !== undefined || grantedAgain === true,
    attempts: 'once',
  });
  switch (released.kind) {
    case 'released':
      return { result: { kind: 'released', grant } };
    case 'absent': {
      // A lock that was to be renewed until the end of the job cannot have expired normally: it was lost, even if the
      // path is free now.
      const isUnrenewed = renewalError !== undefined && mayHaveExpired(grant.lock, serverNow());
      if (loss !== undefined || isUnrenewed) return { result: lostResult(current, 'nobody', renewalError) };
      const isReleased = sentAt !== undefined && candidate.releaseStatus === undefined;
      return { result: { kind: isReleased ? 'released' : 'already-ended', grant } };
    }
    case 'other': {
      const { holder } = released;
      // Someone else held the path before the first attempt, so no attempt has released the lock.
      const wasHeldBefore =
        sentAt !== undefined && Date.parse(holder?.acquired_at ?? '') < serverNow() - (clock() - sentAt);
      return { result: lostResult(wasHeldBefore ? candidate : current, holder, renewalError) };
    }
    case 'ambiguous':
      return { result: grantedAgain ? lostResult(current, undefined, renewalError) : { kind: 'ambiguous', grant } };
    case 'unanswered':
    case 'failed': {
      const { error } = released;
      const mayBeDone = released.kind === 'unanswered' || released.mayBeDone;
      return { result: failedResult(current, error.reason + error.advice, error.request), error, mayBeDone };
    }
  }
}

/** Repeats the request of an intent until it is answered, and then releases its lock. */
export function settlementOf(context: ReleaseAttemptContext, intent: Intent): ReleaseAttempt {
  const { session, service, ledgerError, within } = context;
  /** Without keys in the service, repeating the request after a release would acquire another lock. */
  let grant: Grant | undefined;

  return async (sentAt) => {
    if (intent.service !== service) {
      return { result: { kind: 'unanswered', intent, reason: elsewhereText(intent.service, service) } };
    }
    if (grant === undefined) {
      const acquired = await session.acquire(intent, within);
      if (acquired.kind === 'held') return { result: undefined };
      if (acquired.kind !== 'acquired') {
        const { error } = acquired;
        return { result: { kind: 'unanswered', intent, reason: error.message }, error, mayBeDone: false };
      }
      grant = acquired.grant;
    }
    // With damaged records, the service may replay a response about a lock that was released long ago.
    const earlier = sentAt === undefined ? undefined : 'release-started';
    const releaseStatus = ledgerError === undefined ? earlier : 'records-damaged';
    const released = await releaseCandidate(context, { grant, releaseStatus }, undefined);
    // The job never learned of this lock, so nothing relied on it.
    return released.result?.kind === 'lost' ? { result: { kind: 'already-ended', grant } } : released;
  };
}

/** A lock that is already known to be lost needs no further request. */
export const failedResult = (candidate: ReleaseCandidate, reason: string, request?: string): CandidateResult =>
  candidate.loss === undefined
    ? { kind: 'failed', grant: candidate.grant, reason, request }
    : lostResult(candidate, undefined, undefined);

/** The lock is lost, unless this job may have released it. */
export function lostResult(
  { grant, releaseStatus, loss, grantedAgain }: ReleaseCandidate,
  holder: KnownLock | 'nobody' | undefined,
  renewalError: string | undefined,
): CandidateResult {
  // A lock whose renewal was refused was lost before anyone could have released it.
  switch (loss === undefined ? releaseStatus : undefined) {
    case undefined:
      return { kind: 'lost', grant, holder, loss, renewalError, grantedAgain };
    case 'release-started':
      return { kind: 'already-ended', grant };
    case 'records-damaged':
      return holder === 'nobody' ? { kind: 'already-ended', grant } : { kind: 'taken-over', grant, holder };
  }
}

const elsewhereText = (service: string, current: string): string =>
  `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${current}.`;
