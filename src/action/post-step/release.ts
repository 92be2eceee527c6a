import { type CallLimits, type Client, type LostLock, lookUp } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Grant, Intent, LeaseIntent } from '../../locks/ledger/entry.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import { endLease } from '../../locks/rollback.ts';
import type { LockSession } from '../../locks/session.ts';
import { errorText } from '../report/error-text.ts';
import type { Context } from '../step/context.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './candidates.ts';

export interface ReleaseContext extends Pick<Context, 'clock' | 'sleep' | 'record'> {
  readonly client: Client;
  readonly session: LockSession;
  /** The current service. Its token must not be sent to another one. */
  readonly service: string;
  readonly within: CallLimits;
  readonly candidates: ReleaseCandidates;
}

/** Something to settle at the end of the step: a lock, a lease with its known locks, or an unanswered request. */
interface Unsettled {
  readonly about: Grant | LeaseIntent | Intent;
  readonly held: readonly ReleaseCandidate[];
}

/**
 * Releases what is provably ours. Paths do not wait for each other. An unanswered request waits for the release of the
 * same path, or it would only find our own lock.
 */
export async function releaseAll(context: ReleaseContext): Promise<readonly CandidateResult[]> {
  const byPath = Map.groupBy(unsettledIn(context.candidates), ({ about }) => about.path);
  const results = await Promise.all(
    Array.from(byPath.values(), async (onPath) => {
      const settled: CandidateResult[] = [];
      for (const one of onPath) settled.push(...(await settle(context, one)));
      return settled;
    }),
  );
  return results.flat();
}

/** The results without a connection to the service. */
export const unreleased = (candidates: ReleaseCandidates, reason: string): readonly CandidateResult[] =>
  unsettledIn(candidates).flatMap((one) => failed(one, reason));

/** The locks of a lease are released with it. */
function unsettledIn({ held, unanswered, lease }: ReleaseCandidates): readonly Unsettled[] {
  const { leased = [], single = [] } = Object.groupBy(held, ({ grant }) => (grant.lock.lease ? 'leased' : 'single'));
  return [
    ...(lease ? [{ about: lease, held: leased }] : []),
    // The newest first: while it is held, an older one on the same path would only find it.
    ...single.toReversed().map((candidate) => ({ about: candidate.grant, held: [candidate] })),
    ...unanswered.map((intent) => ({ about: intent, held: [] })),
  ];
}

async function settle(context: ReleaseContext, one: Unsettled): Promise<readonly CandidateResult[]> {
  const { about, held } = one;
  if (about.service !== context.service) {
    const now = `\`base-url\` (or WORKSPACE_BASE_URL) now points to ${context.service}`;
    return failed(one, `It is on ${about.service}, and ${now}.`);
  }
  try {
    if (about.kind === 'lease') return await releaseLease(context, about, held);
    if (about.kind === 'intent') return await releaseIntent(context, about);
    return await Promise.all(held.map((candidate) => releaseLock(context, candidate)));
  } catch (error) {
    // A bug that affects one lock must not prevent the release of the others.
    return failed(one, errorText(error));
  }
}

/** A lock that is already known to be lost needs no further request. For a lease, the first of its paths stands for all. */
function failed({ about, held }: Unsettled, reason: string): readonly CandidateResult[] {
  if (held.length === 0 && about.kind !== 'granted') return [{ kind: 'unanswered', intent: about, reason }];
  return held.map((candidate) =>
    candidate.loss === undefined
      ? { kind: 'failed', grant: candidate.grant, reason }
      : { ...candidate, kind: 'lost', holder: undefined },
  );
}

async function releaseLock(
  { session, client, within, candidates }: ReleaseContext,
  candidate: ReleaseCandidate,
): Promise<CandidateResult> {
  const { grant, loss, grantedAgain = false, mayBeReleased } = candidate;
  const released = await session.release(grant, within, { mayBeReleased: mayBeReleased || grantedAgain });
  switch (released.kind) {
    case 'released':
      return { kind: 'released', grant };
    case 'absent': {
      const isLost = loss !== undefined || isUnrenewed(grant, candidates, client.serverNow());
      return isLost ? lostResult(candidate, 'nobody', candidates) : { kind: 'already-ended', grant };
    }
    case 'other': {
      const { holder, mayBeDone = false } = released;
      return lostResult({ ...candidate, mayBeReleased: mayBeReleased || mayBeDone }, holder, candidates);
    }
    case 'ambiguous':
      if (grantedAgain) return lostResult(candidate, undefined, candidates);
      return { kind: 'left-alone', grant, why: 'no-proof' };
    case 'failed':
      if (loss !== undefined) return { ...candidate, kind: 'lost', holder: undefined };
      return { kind: 'failed', grant, reason: released.error.message };
  }
}

/** Repeats the request of an intent until it is answered, and then releases its lock. */
async function releaseIntent(context: ReleaseContext, intent: Intent): Promise<readonly CandidateResult[]> {
  const acquired = await context.session.acquire(intent, context.within);
  if (acquired.kind === 'held') return [];
  if (acquired.kind !== 'acquired') return [{ kind: 'unanswered', intent, reason: acquired.error.message }];
  const { grant } = acquired;
  // With a damaged ledger, the service may replay a response about a lock that was released long ago.
  const mayBeReleased = context.candidates.ledgerError !== undefined;
  const result = await releaseLock(context, { grant, mayBeReleased });
  // The job never learned of this lock, so nothing relied on it.
  return [result.kind === 'lost' ? { kind: 'already-ended', grant } : result];
}

const firstPauseMs = 500;
const maxPauseMs = 8_000;

/** Ends the lease with one request, also if the response that would have granted it was lost. */
async function releaseLease(
  context: ReleaseContext,
  lease: LeaseIntent,
  held: readonly ReleaseCandidate[],
): Promise<readonly CandidateResult[]> {
  const { client, clock, sleep, within, candidates } = context;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const end = await endLease(context, lease, within);
    if (end.kind === 'ended') {
      const released = new Set<string>(end.released);
      const lost = new Map<string, LostLock>(end.lost.map((one) => [one.path, one]));
      const known = new Set(held.map(({ grant }) => grant.path));
      // The response that granted them was lost, or the ledger is. Only in the latter case, the job relied on them.
      const reliedOn = candidates.ledgerError === undefined ? [] : lost.values().map(({ path }) => path);
      const others = [...end.released, ...reliedOn].filter((path) => !known.has(path));
      return [...held, ...others.map((path) => unknownCandidate(lease, path))].map((one) =>
        released.has(one.grant.path)
          ? { kind: 'released', grant: one.grant }
          : endedResult(one, lost.get(one.grant.path), candidates, client.serverNow()),
      );
    }
    // Only the list shows whether a gateway answered for a service with leases.
    const isUnsupported = end.kind === 'unsupported';
    if (isUnsupported && held.length === 0 && (await isUnknownIn(client, lease, within))) return [];
    const isOver = within.signal?.aborted === true || clock() + pauseMs >= within.deadline;
    if (!isUnsupported || isOver) return failed({ about: lease, held }, end.error.message);
    await sleep(pauseMs, within.signal);
  }
}

async function isUnknownIn(
  client: ReleaseContext['client'],
  { workspace, path, lease }: LeaseIntent,
  within: CallLimits,
): Promise<boolean> {
  const found = await lookUp(client, { workspace, path, attempts: 'once' }, within);
  return found.kind === 'absent' || (found.kind === 'locked' && found.lock.raw['lease'] !== lease);
}

/** The service decides what happened to a lock that its lease no longer had, whatever the ledger has. */
function endedResult(
  candidate: ReleaseCandidate,
  lost: LostLock | undefined,
  records: ReleaseCandidates,
  now: number,
): CandidateResult {
  const { grant, loss } = candidate;
  const mayBeReleased = candidate.mayBeReleased && lost?.reason === 'released';
  if (lost?.holder !== undefined) return lostResult({ ...candidate, mayBeReleased }, lost.holder, records);
  const isLost = loss !== undefined || (lost !== undefined && !mayBeReleased && isUnrenewed(grant, records, now));
  return isLost
    ? lostResult({ ...candidate, mayBeReleased: false }, 'nobody', records)
    : { kind: 'already-ended', grant };
}

/**
 * A lock that was to be renewed until the end of the job cannot have expired normally: it was lost, even if the path is
 * free now.
 */
const isUnrenewed = ({ lock }: Grant, { renewalError }: ReleaseCandidates, now: number): boolean =>
  renewalError !== undefined && mayHaveExpired(lock, now);

/** The lock is lost, unless this job may have released it. */
function lostResult(
  { grant, mayBeReleased, loss, grantedAgain }: ReleaseCandidate,
  holder: Extract<CandidateResult, { kind: 'lost' }>['holder'],
  { ledgerError, renewalError }: ReleaseCandidates,
): CandidateResult {
  // A lock whose renewal was refused was lost before anyone could have released it.
  if (loss !== undefined || !mayBeReleased) return { kind: 'lost', grant, holder, loss, renewalError, grantedAgain };
  if (ledgerError === undefined || holder === 'nobody') return { kind: 'already-ended', grant };
  return { kind: 'left-alone', grant, holder, why: 'ledger-damaged' };
}

const unknownCandidate = (
  { service, workspace, step, lease, type, at }: LeaseIntent,
  path: LockPath,
): ReleaseCandidate => {
  const lock = { path, type, expires_at: at, lease };
  const grant = { kind: 'granted', service, workspace, step, path, key: lease, waitedMs: 0, lock, at } as const;
  return { grant, mayBeReleased: true };
};
