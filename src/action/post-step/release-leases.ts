import {
  type CallLimits,
  type Client,
  isTransient,
  type LostLock,
  lookUp,
  withJitter,
  withRequest,
} from '../../client/client.ts';
import { formatElapsed } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Intent, LeaseIntent } from '../../locks/ledger/entry.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import type { LockSession } from '../../locks/session.ts';
import type { Log } from '../report/reporter.ts';
import type { Context } from '../step/context.ts';
import { failedResult, lostResult } from './attempts.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './candidates.ts';

interface EndContext extends Pick<Context, 'clock' | 'sleep' | 'random'> {
  readonly client: Pick<Client, 'listLocks'>;
  readonly session: Pick<LockSession, 'endLease'>;
  readonly log: Pick<Log, 'line'>;
  readonly serverNow: () => number;
}

const firstPauseMs = 1_000;
const maxPauseMs = 8_000;

/**
 * Ends the leases of the step, each with one request that may be repeated, also if the response that would have granted
 * it was lost. Returns the results for its locks, and the candidates without a lease.
 */
export async function releaseLeases(
  context: EndContext,
  service: string,
  candidates: ReleaseCandidates,
  within: CallLimits,
): Promise<{ readonly results: readonly CandidateResult[]; readonly rest: ReleaseCandidates }> {
  const byLease = Map.groupBy(
    candidates.held.filter(({ grant }) => grant.service === service),
    ({ grant }) => grant.lock.lease,
  );
  const here = candidates.leases.filter((lease) => lease.service === service);
  const open = new Map(here.map((intent) => [intent.lease, intent]));
  for (const [lease, [first]] of byLease) {
    // The ledger may have lost the line of the lease, but not the locks that the runner kept.
    if (lease !== undefined && first !== undefined && !open.has(lease)) open.set(lease, intentOf(first, lease));
  }
  const results = await Promise.all(
    [...open].map(([lease, intent]) => endOne(context, intent, byLease.get(lease) ?? [], candidates, within)),
  );
  const held = candidates.held.filter(({ grant }) => !(grant.service === service && open.has(grant.lock.lease ?? '')));
  return { results: results.flat(), rest: { ...candidates, held, leases: [] } };
}

async function endOne(
  { client, session, clock, sleep, random, log, serverNow }: EndContext,
  intent: LeaseIntent,
  held: readonly ReleaseCandidate[],
  { renewalError }: ReleaseCandidates,
  within: CallLimits,
): Promise<readonly CandidateResult[]> {
  let requests = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const end = await session.endLease(intent, within);
    if (end.kind === 'ended') {
      const released = new Set(end.released);
      const lost = new Map<string, LostLock>(end.lost.map((one) => [one.path, one]));
      const known = held.map((candidate) =>
        resultOf(candidate, released, lost.get(candidate.grant.path), { renewalError, now: serverNow() }),
      );
      const paths = new Set<string>(held.map(({ grant }) => grant.path));
      return [...known, ...end.released.filter((path) => !paths.has(path)).map((path) => releasedOf(intent, path))];
    }
    // Only the list shows whether a gateway answered for a service with leases.
    if (end.kind === 'unsupported' && held.length === 0 && (await isUnknownIn(client, intent, within))) return [];
    requests += end.error.attempts;
    const pause = withJitter(pauseMs, random);
    const mayRetry = end.kind === 'unsupported' || isTransient(end.error);
    if (!mayRetry || within.signal?.aborted === true || clock() + pause >= within.deadline) {
      const { reason, advice } = end.error;
      const request =
        requests > 1 && end.error.attempts < 2 ? `${end.error.request}, ${requests} attempts` : end.error.request;
      if (held.length > 0) return held.map((candidate) => failedResult(candidate, reason + advice, request));
      return [{ kind: 'unanswered', intent: requestOf(intent), reason: end.error.message }];
    }
    log.line(
      `The locks could not be released yet. ${withRequest(end.error.reason, end.error.request)} Trying again in ${formatElapsed(pause)}.`,
    );
    await sleep(pause, within.signal);
  }
}

async function isUnknownIn(
  client: EndContext['client'],
  { workspace, path, lease }: LeaseIntent,
  within: CallLimits,
): Promise<boolean> {
  const found = await lookUp(client, { workspace, path, attempts: 'once' }, within);
  return found.kind === 'absent' || (found.kind === 'locked' && found.lock.raw['lease'] !== lease);
}

/** The service decides what happened to each lock, whatever the ledger has. */
function resultOf(
  candidate: ReleaseCandidate,
  released: ReadonlySet<string>,
  lost: LostLock | undefined,
  { renewalError, now }: { readonly renewalError: string | undefined; readonly now: number },
): CandidateResult {
  const { grant, loss } = candidate;
  const certain = { ...candidate, releaseStatus: undefined };
  if (released.has(grant.path)) return { kind: 'released', grant };
  const mayBeReleasedByUs = lost?.reason === 'released' && candidate.releaseStatus !== undefined;
  if (lost?.holder !== undefined) {
    return lostResult(mayBeReleasedByUs ? candidate : certain, lost.holder, renewalError);
  }
  // A lock that was to be renewed until the end of the job was lost, even if the path is free now.
  const isUnrenewed = renewalError !== undefined && mayHaveExpired(grant.lock, now);
  const isLost = loss !== undefined || (lost !== undefined && !mayBeReleasedByUs && isUnrenewed);
  return isLost ? lostResult(certain, 'nobody', renewalError) : { kind: 'already-ended', grant };
}

/** The response that granted it was lost, or the ledger is. */
const releasedOf = ({ service, workspace, step, lease, type, at }: LeaseIntent, path: LockPath): CandidateResult => {
  const lock = { path, type, expires_at: at, lease };
  return {
    kind: 'released',
    grant: { kind: 'granted', service, workspace, step, path, key: lease, waitedMs: 0, lock, at },
  };
};

const intentOf = ({ grant }: ReleaseCandidate, lease: string): LeaseIntent => {
  const { service, workspace, step, path, at, lock } = grant;
  return { kind: 'lease', service, workspace, step, lease, path, type: lock.type, ttl: '1s', at };
};

/** For the report: the first of its paths stands for all. */
const requestOf = ({ service, workspace, step, path, type, ttl, at, lease }: LeaseIntent): Intent => {
  return { kind: 'intent', service, workspace, step, path, type, ttl, at, key: lease, byService: false };
};
