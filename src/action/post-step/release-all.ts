import { inParallel, isTransient, type ServiceError, withJitter, withRequest } from '../../client/client.ts';
import { formatElapsed, pluralize } from '../../interface/format.ts';
import { errorText } from '../report/error-text.ts';
import type { Log } from '../report/reporter.ts';
import type { Context } from '../step/context.ts';
import type { CandidateResult, ReleaseCandidates } from './candidates.ts';
import { type Release, type ReleasesContext, releasesOf } from './releases.ts';

interface ReleaseAllContext extends Pick<Context, 'sleep' | 'random'>, ReleasesContext {
  readonly log: Pick<Log, 'line'>;
}

const firstPauseMs = 1_000;
const maxPauseMs = 8_000;

/** A release that failed, and may succeed. */
interface Pending {
  readonly release: Release;
  /** The most informative error so far. */
  readonly error?: ServiceError;
  readonly requests: number;
  readonly sentAt?: number | undefined;
}

/**
 * Releases what is provably ours, in parallel, until the deadline. Each release is tried once, and all failed ones then
 * again together, so that they do not delay the others: the client must not retry.
 */
export async function releaseAll(
  context: ReleaseAllContext,
  candidates: ReleaseCandidates,
): Promise<readonly CandidateResult[]> {
  const { clock, sleep, random, log, within } = context;
  const results: CandidateResult[] = [];
  let pending: readonly Pending[] = releasesOf(context, candidates).map((release) => ({ release, requests: 0 }));
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const again: Pending[] = [];
    await inParallel(pending, async (one) => {
      const next = await attempt(one);
      if ('release' in next) again.push(next);
      else results.push(...next);
    });
    pending = again;
    const failed = pending.flatMap(failedResults);
    const pause = withJitter(pauseMs, random);
    const [first] = pending;
    if (first?.error === undefined || within.signal?.aborted === true || clock() + pause >= within.deadline) {
      return [...results, ...failed];
    }
    const remaining = `${pluralize(failed.length, 'lock')} could not be released yet.`;
    const reason = withRequest(first.error.reason, first.error.request);
    log.line(`${remaining} ${reason} Trying again in ${formatElapsed(pause)}.`);
    await sleep(pause, within.signal);
  }

  async function attempt(one: Pending): Promise<Pending | readonly CandidateResult[]> {
    const { release, requests, sentAt } = one;
    const startedAt = clock();
    // A bug that affects one lock must not prevent the release of the others.
    const attempted = await release.attempt(sentAt).catch((error) => release.failed(errorText(error)));
    if (!('error' in attempted)) return attempted;
    const { error, mayBeDone, mayRetry } = attempted;
    // An attempt that was cut off is less informative than the one before it.
    const wasCutOff = error.failure.kind === 'deadline' || error.failure.kind === 'aborted';
    const next: Pending = {
      release,
      error: wasCutOff ? (one.error ?? error) : error,
      requests: requests + error.attempts,
      sentAt: sentAt ?? (mayBeDone ? startedAt : undefined),
    };
    return mayRetry || isTransient(error) ? next : failedResults(next);
  }
}

/** With the number of requests: the client counts only those of one attempt. */
function failedResults({ release, error, requests }: Pending): readonly CandidateResult[] {
  if (error === undefined) return [];
  const { reason, advice, request, attempts } = error;
  const counted = request === undefined || attempts > 1 || requests < 2;
  return release.failed(reason + advice, counted ? request : `${request}, ${requests} attempts`);
}
