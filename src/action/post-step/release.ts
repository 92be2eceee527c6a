import { type CallLimits, type Client, type LostLock, lookUp, withRequest } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Grant, Intent, LeaseIntent, LockLocation } from '../../locks/ledger/entry.ts';
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
}

/** A lock, a lease or an unanswered request that must be settled at the end of the step. */
interface Release {
  readonly about: LockLocation;
  readonly release: (context: ReleaseContext) => Promise<readonly CandidateResult[]>;
  readonly failed: (error: Failure) => readonly CandidateResult[];
}

interface Failure {
  readonly reason: string;
  readonly advice?: string;
  readonly request?: string | undefined;
}

/**
 * Releases what is provably ours. Paths do not wait for each other. An unanswered request waits for the release of the
 * same path, or it would only find our own lock.
 */
export async function releaseAll(
  context: ReleaseContext,
  candidates: ReleaseCandidates,
): Promise<readonly CandidateResult[]> {
  const byPath = Map.groupBy(releasesOf(candidates), ({ about }) => about.path);
  const results = await Promise.all(Array.from(byPath.values(), (onPath) => releaseInTurn(context, onPath)));
  return results.flat();
}

async function releaseInTurn(
  context: ReleaseContext,
  releases: readonly Release[],
): Promise<readonly CandidateResult[]> {
  const results: CandidateResult[] = [];
  for (const { about, release, failed } of releases) {
    // A bug that affects one lock must not prevent the release of the others.
    const settle = () => release(context).catch((error) => failed({ reason: errorText(error) }));
    results.push(
      ...(about.service === context.service ? await settle() : failed({ reason: elsewhereText(about, context) })),
    );
  }
  return results;
}

/** The results without a connection to the service. */
export const unreleased = (candidates: ReleaseCandidates, reason: string): readonly CandidateResult[] =>
  releasesOf(candidates).flatMap(({ failed }) => failed({ reason }));

/** The locks of a lease are released with it. */
function releasesOf({ held, unanswered, lease, ledgerError, renewalError }: ReleaseCandidates): readonly Release[] {
  const isDamaged = ledgerError !== undefined;
  const { leased = [], single = [] } = Object.groupBy(held, ({ grant }) => (grant.lock.lease ? 'leased' : 'single'));
  return [
    ...(lease ? [leaseRelease(lease, leased, { isDamaged, renewalError })] : []),
    // The newest first: while it is held, an older one on the same path would only find it.
    ...single.toReversed().map((candidate) => lockRelease(candidate, { isDamaged, renewalError })),
    ...unanswered.map((intent) => intentRelease(intent, isDamaged)),
  ];
}

interface Records {
  /** A part of the ledger is missing. */
  readonly isDamaged: boolean;
  readonly renewalError?: string | undefined;
}

function lockRelease(candidate: ReleaseCandidate, records: Records): Release {
  const { grant, loss, grantedAgain = false, mayBeReleased } = candidate;
  const failed = (error: Failure) => [failedResult(candidate, error)];
  return {
    about: grant,
    failed,
    async release({ session, client, within }) {
      const released = await session.release(grant, within, { mayBeReleased: mayBeReleased || grantedAgain });
      switch (released.kind) {
        case 'released':
          return [{ kind: 'released', grant }];
        case 'absent': {
          const isLost = loss !== undefined || isUnrenewed(grant, records, client.serverNow());
          return [isLost ? lostResult(candidate, 'nobody', records) : { kind: 'already-ended', grant }];
        }
        case 'other': {
          const { holder, mayBeDone = false } = released;
          return [lostResult({ ...candidate, mayBeReleased: mayBeReleased || mayBeDone }, holder, records)];
        }
        case 'ambiguous':
          return [grantedAgain ? lostResult(candidate, undefined, records) : { kind: 'ambiguous', grant }];
        case 'unanswered':
        case 'failed':
          return failed(released.error);
      }
    },
  };
}

/** Repeats the request of an intent until it is answered, and then releases its lock. */
const intentRelease = (intent: Intent, isDamaged: boolean): Release => ({
  about: intent,
  failed: (error) => [unansweredResult(intent, error)],
  async release(context) {
    const acquired = await context.session.acquire(intent, context.within);
    if (acquired.kind === 'held') return [];
    if (acquired.kind !== 'acquired') return [unansweredResult(intent, acquired.error)];
    const { grant } = acquired;
    // With a damaged ledger, the service may replay a response about a lock that was released long ago.
    const lock = lockRelease({ grant, mayBeReleased: isDamaged }, { isDamaged });
    const results = await lock.release(context).catch((error) => lock.failed({ reason: errorText(error) }));
    // The job never learned of this lock, so nothing relied on it.
    return results.map((one) => (one.kind === 'lost' ? { kind: 'already-ended', grant } : one));
  },
});

const firstPauseMs = 500;
const maxPauseMs = 8_000;

/** Ends the lease with one request, also if the response that would have granted it was lost. */
function leaseRelease(intent: LeaseIntent, held: readonly ReleaseCandidate[], records: Records): Release {
  const failed = (error: Failure): readonly CandidateResult[] =>
    held.length > 0 ? held.map((candidate) => failedResult(candidate, error)) : [unansweredResult(intent, error)];
  return {
    about: intent,
    failed,
    async release(context) {
      const { client, clock, sleep, within } = context;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
        const end = await endLease(context, intent, within);
        if (end.kind === 'ended') {
          const released = new Set<string>(end.released);
          const lost = new Map<string, LostLock>(end.lost.map((one) => [one.path, one]));
          const known = new Set(held.map(({ grant }) => grant.path));
          // The response that granted them was lost, or the ledger is. Only in the latter case, the job relied on them.
          const paths = [...end.released, ...(records.isDamaged ? lost.values().map(({ path }) => path) : [])];
          const others = paths.filter((path) => !known.has(path)).map((path) => unknownCandidate(intent, path));
          return [...held, ...others].map((one) =>
            released.has(one.grant.path)
              ? { kind: 'released', grant: one.grant }
              : endedResult(one, lost.get(one.grant.path), records, client.serverNow()),
          );
        }
        if (end.kind === 'failed') return failed(end.error);
        // Only the list shows whether a gateway answered for a service with leases.
        if (held.length === 0 && (await isUnknownIn(client, intent, within))) return [];
        if (within.signal?.aborted === true || clock() + pauseMs >= within.deadline) return failed(end.error);
        await sleep(pauseMs, within.signal);
      }
    },
  };
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
  records: Records,
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
const isUnrenewed = ({ lock }: Grant, { renewalError }: Records, now: number): boolean =>
  renewalError !== undefined && mayHaveExpired(lock, now);

/** The lock is lost, unless this job may have released it. */
function lostResult(
  { grant, mayBeReleased, loss, grantedAgain }: ReleaseCandidate,
  holder: Extract<CandidateResult, { kind: 'lost' }>['holder'],
  { isDamaged, renewalError }: Records,
): CandidateResult {
  // A lock whose renewal was refused was lost before anyone could have released it.
  if (loss !== undefined || !mayBeReleased) return { kind: 'lost', grant, holder, loss, renewalError, grantedAgain };
  return isDamaged && holder !== 'nobody' ? { kind: 'taken-over', grant, holder } : { kind: 'already-ended', grant };
}

/** A lock that is already known to be lost needs no further request. */
const failedResult = (candidate: ReleaseCandidate, { reason, advice = '', request }: Failure): CandidateResult =>
  candidate.loss === undefined
    ? { kind: 'failed', grant: candidate.grant, reason: reason + advice, request }
    : { ...candidate, kind: 'lost', holder: undefined };

/** For a lease, the first of its paths stands for all. */
const unansweredResult = (
  intent: Intent | LeaseIntent,
  { reason, advice = '', request }: Failure,
): CandidateResult => ({ kind: 'unanswered', intent, reason: withRequest(reason + advice, request) });

const unknownCandidate = (
  { service, workspace, step, lease, type, at }: LeaseIntent,
  path: LockPath,
): ReleaseCandidate => {
  const lock = { path, type, expires_at: at, lease };
  const grant = { kind: 'granted', service, workspace, step, path, key: lease, waitedMs: 0, lock, at } as const;
  return { grant, mayBeReleased: true };
};

const elsewhereText = (about: LockLocation, now: Pick<ReleaseContext, 'service'>): string =>
  `It is on ${about.service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${now.service}.`;
