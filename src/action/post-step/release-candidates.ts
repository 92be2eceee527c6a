import {
  type CallLimits,
  inParallel,
  isTransient,
  type KnownLock,
  type ServiceError,
  withJitter,
  withRequest,
} from '../../client/client.ts';
import { formatElapsed, pluralize } from '../../interface/format.ts';
import { type Grant, type Intent, parsedTtl } from '../../locks/ledger/entry.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import type { LockSession } from '../../locks/session.ts';
import { errorText } from '../report/error-text.ts';
import type { Log } from '../report/reporter.ts';
import type { Context } from '../step/context.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './candidates.ts';

interface ReleaseAllContext extends Pick<Context, 'clock' | 'sleep' | 'random'> {
  readonly session: LockSession;
  readonly serverNow: () => number;
  readonly log: Pick<Log, 'line'>;
}

const firstPauseMs = 1_000;
const maxPauseMs = 8_000;

/** The result of one attempt: undefined if the lock was never granted. */
type Attempt =
  | { readonly result: CandidateResult | undefined; readonly error?: undefined }
  /** Another attempt may succeed. */
  | FailedAttempt;

interface FailedAttempt {
  readonly result: CandidateResult;
  readonly error: ServiceError;
  /** The service may have released the lock despite the error. */
  readonly mayBeDone: boolean;
}

/** A lock or an intent that is not settled yet. */
interface Pending {
  readonly attempt: (sentAt: number | undefined) => Promise<Attempt>;
  /** The most informative attempt so far. */
  readonly before?: FailedAttempt;
  readonly requests: number;
  /** Time of the first attempt that may have released the lock although its response was lost. */
  readonly sentAt?: number | undefined;
}

/**
 * Releases the locks that are provably ours, in parallel, until the deadline. Each is tried once, and all failed ones
 * then again together, so that they do not delay the others: the client must not retry.
 */
export async function releaseCandidates(
  { session, clock, sleep, random, serverNow, log }: ReleaseAllContext,
  service: string,
  { held, unanswered, ledgerError, renewalError }: ReleaseCandidates,
  within: CallLimits,
): Promise<readonly CandidateResult[]> {
  const results: CandidateResult[] = [];
  /** Grants of intents, by key. Without keys in the service, asking again after a release would acquire another lock. */
  const granted = new Map<string, Grant>();

  let candidates: readonly Pending[] = longestTtlFirst(held, endOfCandidate).map((one) => ({
    requests: 0,
    // A bug that affects one lock must not prevent the release of the others.
    attempt: (sentAt) => release(one, sentAt).catch((error) => ({ result: failedOr(one, errorText(error)) })),
  }));
  let intents: readonly Pending[] = longestTtlFirst(unanswered, endOfIntent).map((one) => ({
    requests: 0,
    attempt: (sentAt) =>
      settle(one, sentAt).catch((error) => ({ result: { kind: 'unanswered', intent: one, reason: errorText(error) } })),
  }));
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    candidates = await attemptAll(candidates);
    intents = await attemptAll(intents);
    const failed = [...candidates, ...intents].flatMap(({ before, requests }) =>
      before ? [{ before, requests }] : [],
    );
    const pause = withJitter(pauseMs, random);
    const isOutOfTime = within.signal?.aborted === true || clock() + pause >= within.deadline;
    const [first] = failed;
    if (first === undefined || isOutOfTime) {
      return [...results, ...failed.map(({ before, requests }) => withRequests(before, requests))];
    }
    const { reason, request } = first.before.error;
    const left = `${pluralize(failed.length, 'lock')} could not be released yet.`;
    log.line(`${left} ${withRequest(reason, request)} Trying again in ${formatElapsed(pause)}.`);
    await sleep(pause, within.signal);
  }

  async function release(candidate: ReleaseCandidate, sentAt: number | undefined): Promise<Attempt> {
    const {
      grant,
      releaseStatus = sentAt === undefined ? undefined : 'release-started',
      loss,
      grantedAgain,
    } = candidate;
    const lostTo = (holder: KnownLock | 'nobody' | undefined): Attempt => ({
      result: lostOr({ grant, releaseStatus, loss, grantedAgain }, holder, renewalError),
    });
    if (grant.service !== service) {
      return { result: failedOr(candidate, elsewhere(grant.service, service)) };
    }
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
        const failed = renewalError !== undefined && mayHaveExpired(grant.lock, serverNow());
        if (loss !== undefined || failed) return lostTo('nobody');
        return {
          result: { kind: sentAt !== undefined && candidate.releaseStatus === undefined ? 'released' : 'gone', grant },
        };
      }
      case 'other': {
        const { holder } = released;
        // Someone else held the path before the first attempt, so no attempt has released the lock.
        const heldItBefore =
          sentAt !== undefined && Date.parse(holder?.acquired_at ?? '') < serverNow() - (clock() - sentAt);
        return heldItBefore ? { result: lostOr(candidate, holder, renewalError) } : lostTo(holder);
      }
      case 'ambiguous':
        return grantedAgain ? lostTo(undefined) : { result: { kind: 'ambiguous', grant } };
      case 'unanswered':
      case 'failed': {
        const { error } = released;
        const mayBeDone = released.kind === 'unanswered' || released.mayBeDone;
        return {
          result: failedOr({ grant, releaseStatus, loss, grantedAgain }, error.reason + error.advice, error.request),
          error,
          mayBeDone,
        };
      }
    }
  }

  async function settle(intent: Intent, sentAt: number | undefined): Promise<Attempt> {
    if (intent.service !== service) {
      return { result: { kind: 'unanswered', intent, reason: elsewhere(intent.service, service) } };
    }
    const known = granted.get(intent.key);
    const settlement = known ? ({ kind: 'acquired', grant: known } as const) : await session.acquire(intent, within);
    switch (settlement.kind) {
      case 'acquired': {
        granted.set(intent.key, settlement.grant);
        // With damaged records, the service may replay a response about a lock that was released long ago.
        const earlier = sentAt === undefined ? undefined : 'release-started';
        const releaseStatus = ledgerError === undefined ? earlier : 'records-damaged';
        const released = await release({ grant: settlement.grant, releaseStatus }, undefined);
        // The job never learned of this lock, so nothing relied on it.
        return released.result?.kind === 'lost' ? { result: { kind: 'gone', grant: settlement.grant } } : released;
      }
      case 'held':
        return { result: undefined };
      case 'failed':
      case 'unanswered': {
        const { error } = settlement;
        return { result: { kind: 'unanswered', intent, reason: error.message }, error, mayBeDone: false };
      }
    }
  }

  /** Returns the locks and intents that are worth another attempt. */
  async function attemptAll(all: readonly Pending[]): Promise<readonly Pending[]> {
    const again: Pending[] = [];
    await inParallel(all, async ({ attempt, before, requests, sentAt }) => {
      const began = clock();
      const attempted = await attempt(sentAt);
      if (attempted.error === undefined) {
        if (attempted.result !== undefined) results.push(attempted.result);
        return;
      }
      const { error, mayBeDone } = attempted;
      // An attempt that was cut off is less informative than the one before it.
      const wasCutOff = error.failure.kind === 'deadline' || error.failure.kind === 'aborted';
      const most = wasCutOff && before !== undefined ? before : attempted;
      if (!isTransient(error)) {
        results.push(most.result);
        return;
      }
      again.push({
        attempt,
        before: most,
        requests: requests + error.attempts,
        sentAt: sentAt ?? (mayBeDone ? began : undefined),
      });
    });
    return again;
  }
}

/** The results without a connection to the service. */
export const unreleased = ({ held, unanswered }: ReleaseCandidates, reason: string): readonly CandidateResult[] => [
  ...held.map((candidate) => failedOr(candidate, reason)),
  ...unanswered.map((intent): CandidateResult => ({ kind: 'unanswered', intent, reason })),
];

/** Puts the lock that would block others longest first, and locks without a known expiry last. */
const longestTtlFirst = <One>(all: readonly One[], endOf: (one: One) => number): readonly One[] =>
  all.toSorted((one, other) => (endOf(other) || 0) - (endOf(one) || 0));

const endOfCandidate = ({ grant }: ReleaseCandidate): number => Date.parse(grant.lock.expires_at);
const endOfIntent = (intent: Intent): number => Date.parse(intent.at) + parsedTtl(intent).seconds * 1_000;

/** Adds the number of requests: the client counts only those of one attempt. */
function withRequests({ result, error }: FailedAttempt, requests: number): CandidateResult {
  const counted = error.request === undefined || error.attempts > 1 || requests < 2;
  return counted || result.kind !== 'failed'
    ? result
    : { ...result, request: `${error.request}, ${requests} attempts` };
}

/** A lock that is already known to be lost needs no further request. */
const failedOr = (candidate: ReleaseCandidate, reason: string, request?: string): CandidateResult =>
  candidate.loss === undefined
    ? { kind: 'failed', grant: candidate.grant, reason, request }
    : lostOr(candidate, undefined, undefined);

const lostOr = (
  { grant, releaseStatus, loss, grantedAgain }: ReleaseCandidate,
  holder: KnownLock | 'nobody' | undefined,
  renewalError: string | undefined,
): CandidateResult => {
  // A lock whose renewal was refused was lost before anyone could have released it.
  switch (loss === undefined ? releaseStatus : undefined) {
    case undefined:
      return { kind: 'lost', grant, holder, loss, renewalError, grantedAgain };
    case 'release-started':
      return { kind: 'gone', grant };
    case 'records-damaged':
      return holder === 'nobody' ? { kind: 'gone', grant } : { kind: 'replaced', grant, holder };
  }
};

/** The current token is for the current service, and must not be sent to another one. */
const elsewhere = (service: string, now: string): string =>
  `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${now}.`;
