import {
  type CallLimits,
  inParallel,
  isTransient,
  type KnownLock,
  type ServiceError,
  withJitter,
  withRequest,
} from '../../client/client.ts';
import { type Intent, parsedTtl } from '../ledger/entry.ts';
import { mayHaveExpired } from '../locks/ownership.ts';
import { hasIdentity } from '../locks/release.ts';
import type { LockSession } from '../locks/session.ts';
import { errorText } from '../report/error-text.ts';
import type { Log } from '../report/reporter.ts';
import { formatElapsed, pluralize } from '../report/words.ts';
import type { Context } from '../step/context.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './claims.ts';

interface ReleaseContext extends Pick<Context, 'clock' | 'sleep' | 'random'> {
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
}

/** A claim or an intent that an earlier attempt has not settled. */
interface Pending {
  readonly attempt: (sentAt: number | undefined) => Promise<Attempt>;
  /** The earlier attempt that says most. */
  readonly before?: FailedAttempt;
  /** Requests so far. */
  readonly requests: number;
  /** Since then the lock may have been released, by an attempt whose response was lost. */
  readonly sentAt?: number | undefined;
}

/** Releases the locks that are provably ours, in parallel, and retries for as long as there is time. */
export async function releaseClaims(
  { session, clock, sleep, random, serverNow, log }: ReleaseContext,
  service: string,
  { held, unanswered, ledgerError, renewalError }: ReleaseCandidates,
  within: CallLimits,
): Promise<readonly CandidateResult[]> {
  const results: CandidateResult[] = [];

  async function release(claim: ReleaseCandidate, sentAt: number | undefined): Promise<Attempt> {
    const { grant, doubt = sentAt === undefined ? undefined : 'release-started', loss } = claim;
    const lostTo = (holder: KnownLock | 'nobody' | undefined): Attempt => ({
      result: lostOr({ grant, doubt, loss }, holder, renewalError),
    });
    if (grant.service !== service) {
      return { result: failedOr(claim, elsewhere(grant.service, service)) };
    }
    const released = await session.release(grant, within, doubt !== undefined);
    switch (released.kind) {
      case 'released':
        return { result: { kind: 'released', grant } };
      case 'absent': {
        // Renewed to the end of the job, it cannot have ended before: it was lost, though nobody has the path now.
        const failed = renewalError !== undefined && mayHaveExpired(grant.lock, serverNow());
        if (loss !== undefined || failed) return lostTo('nobody');
        return { result: { kind: sentAt !== undefined && claim.doubt === undefined ? 'released' : 'gone', grant } };
      }
      case 'lost': {
        const { holder } = released;
        // Another had the path before the first attempt, so none of them has released the lock.
        const hadIt = sentAt !== undefined && Date.parse(holder?.acquired_at ?? '') < serverNow() - (clock() - sentAt);
        return hadIt ? { result: lostOr(claim, holder, renewalError) } : lostTo(holder);
      }
      case 'ambiguous':
        return { result: { kind: 'ambiguous', grant } };
      case 'unanswered':
      case 'failed': {
        const { error } = released;
        return { result: failedOr({ grant, doubt, loss }, error.reason + error.advice, error.request), error };
      }
    }
  }

  async function settle(intent: Intent, sentAt: number | undefined): Promise<Attempt> {
    if (intent.service !== service) {
      return { result: { kind: 'unanswered', intent, reason: elsewhere(intent.service, service) } };
    }
    const settlement = await session.ask(intent, within);
    switch (settlement.kind) {
      case 'acquired': {
        // With damaged records, the service may remember an answer about a lock that was released long ago.
        const earlier = sentAt === undefined ? undefined : 'release-started';
        const doubt = ledgerError === undefined ? earlier : 'records-damaged';
        const released = await release({ grant: settlement.grant, doubt }, undefined);
        // The job never learned of this lock, so nothing relied on it.
        return released.result?.kind === 'lost' ? { result: { kind: 'gone', grant: settlement.grant } } : released;
      }
      case 'held':
        return { result: undefined };
      case 'failed':
      case 'unanswered':
        return { result: { kind: 'unanswered', intent, reason: settlement.error.message }, error: settlement.error };
    }
  }

  /** Returns what is worth another attempt. */
  async function attemptAll(all: readonly Pending[]): Promise<readonly Pending[]> {
    const again: Pending[] = [];
    await inParallel(all, async ({ attempt, before, requests, sentAt }) => {
      const began = clock();
      const { result, error } = await attempt(sentAt);
      if (error === undefined) {
        if (result !== undefined) results.push(result);
        return;
      }
      // An attempt that was cut off says less than the one before it.
      const wasCutOff = error.failure.kind === 'deadline' || error.failure.kind === 'aborted';
      const most = wasCutOff && before !== undefined ? before : { result, error };
      if (!isTransient(error)) {
        results.push(most.result);
        return;
      }
      again.push({
        attempt,
        before: most,
        requests: requests + error.attempts,
        sentAt: sentAt ?? (mayHaveArrived(error) ? began : undefined),
      });
    });
    return again;
  }

  let claims: readonly Pending[] = longestTtlFirst(held, endOfClaim).map((one) => ({
    requests: 0,
    // A fault of our own code with one lock must not keep the others from being released.
    attempt: (sentAt) => release(one, sentAt).catch((error) => ({ result: failedOr(one, errorText(error)) })),
  }));
  let intents: readonly Pending[] = longestTtlFirst(unanswered, endOfIntent).map((one) => ({
    requests: 0,
    attempt: (sentAt) =>
      settle(one, sentAt).catch((error) => ({ result: { kind: 'unanswered', intent: one, reason: errorText(error) } })),
  }));
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    claims = await attemptAll(claims);
    intents = await attemptAll(intents);
    const failed = [...claims, ...intents].flatMap(({ before, requests }) => (before ? [{ before, requests }] : []));
    const pause = withJitter(pauseMs, random);
    const isOver = within.signal?.aborted === true || clock() + pause >= within.deadline;
    const [first] = failed;
    if (first === undefined || isOver) {
      return [...results, ...failed.map(({ before, requests }) => withRequests(before, requests))];
    }
    const { reason, request } = first.before.error;
    const left = `${pluralize(failed.length, 'lock')} could not be released yet.`;
    log.line(`${left} ${withRequest(reason, request)} Trying again in ${formatElapsed(pause)}.`);
    await sleep(pause, within.signal);
  }
}

/** For locks whose requests the client repeats: as many as fit. */
const retries = 1_000;

/**
 * The client sends each request once, and the post-step retries all failed ones together, so that they delay no others. A lock
 * without id and ETag takes several requests in a row, so the client itself retries those.
 */
export const retriesFor = ({ held }: Pick<ReleaseCandidates, 'held'>): number =>
  held.length > 0 && held.every(({ grant }) => hasIdentity(grant.lock)) ? 0 : retries;

/** Without a connection to the service. */
export const unreleased = ({ held, unanswered }: ReleaseCandidates, reason: string): readonly CandidateResult[] => [
  ...held.map((claim) => failedOr(claim, reason)),
  ...unanswered.map((intent): CandidateResult => ({ kind: 'unanswered', intent, reason })),
];

/** The lock that would block others for longest comes first; one without a known end, last. */
const longestTtlFirst = <One>(all: readonly One[], endOf: (one: One) => number): readonly One[] =>
  all.toSorted((one, other) => (endOf(other) || 0) - (endOf(one) || 0));

const endOfClaim = ({ grant }: ReleaseCandidate): number => Date.parse(grant.lock.expires_at);
const endOfIntent = (intent: Intent): number => Date.parse(intent.at) + parsedTtl(intent).seconds * 1_000;

const mayHaveArrived = ({ failure, attempts }: ServiceError): boolean =>
  attempts > 0 && !(failure.kind === 'connection' && !failure.mayHaveArrived);

/** The client counts the requests of one attempt only. */
function withRequests({ result, error }: FailedAttempt, requests: number): CandidateResult {
  const counted = error.request === undefined || error.attempts > 1 || requests < 2;
  return counted || result.kind !== 'failed'
    ? result
    : { ...result, request: `${error.request}, ${requests} attempts` };
}

/** A lock that the service has already called lost needs no further request. */
const failedOr = (claim: ReleaseCandidate, reason: string, request?: string): CandidateResult =>
  claim.loss === undefined
    ? { kind: 'failed', grant: claim.grant, reason, request }
    : lostOr(claim, undefined, undefined);

const lostOr = (
  { grant, doubt, loss }: ReleaseCandidate,
  holder: KnownLock | 'nobody' | undefined,
  renewalError: string | undefined,
): CandidateResult => {
  // What the service refused to renew was lost before anybody could have released it.
  switch (loss === undefined ? doubt : undefined) {
    case undefined:
      return { kind: 'lost', grant, holder, loss, renewalError };
    case 'release-started':
      return { kind: 'gone', grant };
    case 'records-damaged':
      return holder === 'nobody' ? { kind: 'gone', grant } : { kind: 'replaced', grant, holder };
  }
};

/** The token that the step has now is for the service that it names now, and goes to no other. */
const elsewhere = (service: string, now: string): string =>
  `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${now}.`;
