import { type CallLimits, inParallel, isTransient, withJitter, withRequest } from '../../client/client.ts';
import { formatElapsed, pluralize } from '../../interface/format.ts';
import { type Intent, parsedTtl } from '../../locks/ledger/entry.ts';
import { errorText } from '../report/error-text.ts';
import type { Log } from '../report/reporter.ts';
import type { Context } from '../step/context.ts';
import {
  type FailedReleaseAttempt,
  failedResult,
  type ReleaseAttempt,
  type ReleaseAttemptContext,
  releaseCandidate,
  settlementOf,
} from './attempts.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './candidates.ts';

interface ReleaseAllContext
  extends Pick<Context, 'clock' | 'sleep' | 'random'>,
    Pick<ReleaseAttemptContext, 'session' | 'serverNow'> {
  readonly log: Pick<Log, 'line'>;
}

const firstPauseMs = 1_000;
const maxPauseMs = 8_000;

/** A lock or an intent that is not settled yet. */
interface Pending {
  readonly attempt: ReleaseAttempt;
  /** The most informative attempt so far. */
  readonly before?: FailedReleaseAttempt;
  readonly requests: number;
  readonly sentAt?: number | undefined;
}

/**
 * Releases the locks that are provably ours, in parallel, until the deadline. Each is tried once, and all failed ones
 * then again together, so that they do not delay the others: the client must not retry.
 */
export async function releaseCandidates(
  { clock, sleep, random, log, ...shared }: ReleaseAllContext,
  service: string,
  { held, unanswered, ledgerError, renewalError }: ReleaseCandidates,
  within: CallLimits,
): Promise<readonly CandidateResult[]> {
  const context: ReleaseAttemptContext = { ...shared, clock, service, ledgerError, renewalError, within };
  const results: CandidateResult[] = [];
  // A bug that affects one lock must not prevent the release of the others.
  let candidates: readonly Pending[] = latestExpiryFirst(held, expiryOfCandidate).map((one) => ({
    requests: 0,
    attempt: (sentAt) =>
      releaseCandidate(context, one, sentAt).catch((error) => ({ result: failedResult(one, errorText(error)) })),
  }));
  let intents: readonly Pending[] = latestExpiryFirst(unanswered, expiryOfIntent).map((intent) => {
    const settle = settlementOf(context, intent);
    return {
      requests: 0,
      attempt: (sentAt) =>
        settle(sentAt).catch((error) => ({ result: { kind: 'unanswered', intent, reason: errorText(error) } })),
    };
  });
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
    const remaining = `${pluralize(failed.length, 'lock')} could not be released yet.`;
    log.line(`${remaining} ${withRequest(reason, request)} Trying again in ${formatElapsed(pause)}.`);
    await sleep(pause, within.signal);
  }

  /** Returns the locks and intents that are worth another attempt. */
  async function attemptAll(all: readonly Pending[]): Promise<readonly Pending[]> {
    const again: Pending[] = [];
    await inParallel(all, async ({ attempt, before, requests, sentAt }) => {
      const startedAt = clock();
      const attempted = await attempt(sentAt);
      if (attempted.error === undefined) {
        if (attempted.result !== undefined) results.push(attempted.result);
        return;
      }
      const { error, mayBeDone } = attempted;
      // An attempt that was cut off is less informative than the one before it.
      const wasCutOff = error.failure.kind === 'deadline' || error.failure.kind === 'aborted';
      const best = wasCutOff && before !== undefined ? before : attempted;
      if (!isTransient(error)) {
        results.push(best.result);
        return;
      }
      again.push({
        attempt,
        before: best,
        requests: requests + error.attempts,
        sentAt: sentAt ?? (mayBeDone ? startedAt : undefined),
      });
    });
    return again;
  }
}

/** The results without a connection to the service. */
export const unreleased = ({ held, unanswered }: ReleaseCandidates, reason: string): readonly CandidateResult[] => [
  ...held.map((candidate) => failedResult(candidate, reason)),
  ...unanswered.map((intent): CandidateResult => ({ kind: 'unanswered', intent, reason })),
];

/** Puts the lock that would block others longest first, and locks without a known expiry last. */
const latestExpiryFirst = <One>(all: readonly One[], expiryOf: (one: One) => number): readonly One[] =>
  all.toSorted((one, other) => (expiryOf(other) || 0) - (expiryOf(one) || 0));

const expiryOfCandidate = ({ grant }: ReleaseCandidate): number => Date.parse(grant.lock.expires_at);
const expiryOfIntent = (intent: Intent): number => Date.parse(intent.at) + parsedTtl(intent).seconds * 1_000;

/** Adds the number of requests: the client counts only those of one attempt. */
function withRequests({ result, error }: FailedReleaseAttempt, requests: number): CandidateResult {
  const counted = error.request === undefined || error.attempts > 1 || requests < 2;
  return counted || result.kind !== 'failed'
    ? result
    : { ...result, request: `${error.request}, ${requests} attempts` };
}
