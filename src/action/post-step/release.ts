import type { Client } from '../../client/client.ts';
import type { LostLock } from '../../client/leases.ts';
import { isUnreadable, lookUp } from '../../client/lists.ts';
import type { CallLimits } from '../../client/request.ts';
import { knowsNoRoute } from '../../client/service-error.ts';
import { sleep, steadyClock } from '../../client/time.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Entry, Grant, Intent, LeaseIntent } from '../../locks/ledger/entry.ts';
import type { JobLock } from '../../locks/ledger/history.ts';
import { type Ledger, marksIn } from '../../locks/ledger/ledger.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import { cleanupLimits, endLease } from '../../locks/rollback.ts';
import { createLockSession, type LockSession } from '../../locks/session.ts';
import { readConnection } from '../inputs/connection.ts';
import { createReader, type RawInputs } from '../inputs/table.ts';
import { errorText } from '../report/error-text.ts';
import type { Reporter } from '../report/reporter.ts';
import type { PathResult } from '../report/results.ts';
import { connect } from '../step/connect.ts';
import type { Context } from '../step/context.ts';
import type { ReleaseCandidates } from './candidates.ts';
import {
  goneResult,
  notReleasedResult,
  releasedResult,
  replacedResult,
  unansweredResult,
  unidentifiedResult,
} from './results.ts';

/** The post-step must end within 60 s. The rest is for starting and reporting on a slow machine. */
const timeLimitMs = 45_000;

/** Attempts are short, and as many as fit: a network that is down may come back. */
const maxRequestTimeout = { seconds: 10 };

interface ReleaseOptions {
  readonly raw: RawInputs;
  readonly reporter: Reporter;
  readonly origin: string | undefined;
  readonly ledger: Ledger;
  readonly record: (entry: Entry) => void;
  readonly cancelled: AbortSignal;
}

interface ReleaseContext extends Pick<Context, 'clock' | 'sleep' | 'record'> {
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
  readonly held: readonly JobLock[];
}

/**
 * Releases what is provably ours. Paths do not wait for each other. An unanswered request waits for the release of the
 * same path, or it would only find our own lock.
 */
export async function releaseAll(
  candidates: ReleaseCandidates,
  { raw, reporter, origin, ledger, record, cancelled }: ReleaseOptions,
): Promise<{ readonly results: readonly PathResult[]; readonly now: number }> {
  const all = unsettledIn(candidates);
  const reader = createReader(raw);
  const connection = readConnection(reader, process.env);
  if (connection === undefined) {
    const [reason, now] = [reader.problems.join(' '), Date.now()];
    return { results: all.flatMap((one) => unsettled(one, reason, candidates, now)), now };
  }
  const { baseUrl: service, requestTimeout } = connection;
  const seconds = Math.min(requestTimeout.seconds, maxRequestTimeout.seconds);
  const limits = { retries: Number.POSITIVE_INFINITY, requestTimeout: { seconds } };
  const client = connect({ ...connection, ...limits }, origin, reporter, { marks: marksIn(ledger, record, service) });
  const within = { ...cleanupLimits(steadyClock, timeLimitMs, cancelled), isLastChance: true };
  const time = { clock: steadyClock, sleep, random: Math.random };
  const session = createLockSession({ ...time, client, record });
  const context = { ...time, client, record, session, service, within, candidates };
  const byPath = Map.groupBy(all, ({ about }) => about.path);
  const results = await Promise.all(
    Array.from(byPath.values(), async (onPath) => {
      const settled: PathResult[] = [];
      for (const one of onPath) settled.push(...(await settle(context, one)));
      return settled;
    }),
  );
  return { results: results.flat(), now: client.serverNow() };
}

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

async function settle(context: ReleaseContext, one: Unsettled): Promise<readonly PathResult[]> {
  const { service, client, candidates } = context;
  const { about, held } = one;
  const fail = (reason: string) => unsettled(one, reason, candidates, client.serverNow());
  if (about.service !== service) {
    return fail(`It is on ${about.service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${service}.`);
  }
  try {
    if (about.kind === 'intent') return await releaseIntent(context, about);
    if (about.kind === 'granted') return await Promise.all(held.map((candidate) => releaseLock(context, candidate)));
    const end = await endLeaseInTime(context, about, held.length > 0);
    return end.kind === 'ended' ? leaseResults(context, about, held, end) : fail(end.error.message);
  } catch (error) {
    // A bug that affects one lock must not prevent the release of the others.
    return fail(errorText(error));
  }
}

/** A lock that is already known to be lost needs no further request. For a lease, the first of its paths stands for all. */
function unsettled(
  { about, held }: Unsettled,
  reason: string,
  records: ReleaseCandidates,
  now: number,
): readonly PathResult[] {
  if (held.length === 0 && about.kind !== 'granted') return [unansweredResult(about, reason)];
  return held.map((candidate) => unreleasedResult(candidate, reason, records, now));
}

const unreleasedResult = (
  candidate: JobLock,
  reason: string,
  records: ReleaseCandidates,
  now: number,
  mayBeDone = false,
): PathResult =>
  candidate.loss === undefined
    ? notReleasedResult(candidate.grant, reason, now, mayBeDone)
    : replacedResult(candidate, undefined, records, now);

async function releaseLock(context: ReleaseContext, candidate: JobLock): Promise<PathResult> {
  const { session, client, within, candidates } = context;
  const { grant, grantedAgain = false, mayBeReleased } = candidate;
  const released = await session.release(grant, within, mayBeReleased || grantedAgain);
  const now = client.serverNow();
  switch (released.kind) {
    case 'released':
      return releasedResult(grant);
    case 'absent':
      return goneOrLost(candidate, candidates, now);
    case 'other': {
      const { holder, mayBeDone = false } = released;
      return replacedResult({ ...candidate, mayBeReleased: mayBeReleased || mayBeDone }, holder, candidates, now);
    }
    case 'ambiguous':
      return grantedAgain ? replacedResult(candidate, undefined, candidates, now) : unidentifiedResult(grant, now);
    case 'failed':
      return unreleasedResult(candidate, released.error.message, candidates, now, released.mayBeDone);
  }
}

/** A lock that was to be renewed until the end of the job was lost if it expired, even if the path is free now. */
function goneOrLost(candidate: JobLock, records: ReleaseCandidates, now: number): PathResult {
  const { grant, loss } = candidate;
  const isUnrenewed = records.renewalError !== undefined && mayHaveExpired(grant.lock, now);
  return loss !== undefined || isUnrenewed ? replacedResult(candidate, 'nobody', records, now) : goneResult(grant, now);
}

/** Repeats the request of an intent until it is answered, and then releases its lock. */
async function releaseIntent(context: ReleaseContext, intent: Intent): Promise<readonly PathResult[]> {
  const acquired = await context.session.acquire(intent, context.within);
  if (acquired.kind === 'held' && !acquired.mayBeDone) return [];
  if (acquired.kind !== 'acquired') return [unansweredResult(intent, acquired.error.message)];
  const { grant } = acquired;
  // With a damaged ledger, the service may replay a response about a lock that was released long ago.
  const mayBeReleased = context.candidates.ledgerError !== undefined;
  const result = await releaseLock(context, { grant, mayBeReleased });
  // The job never learned of this lock, so nothing relied on it.
  return [result.result === 'lost' ? goneResult(grant, context.client.serverNow()) : result];
}

const firstPauseMs = 500;
const maxPauseMs = 8_000;

/** Ends the lease with one request, also if the response that would have granted it was lost. */
async function endLeaseInTime(context: ReleaseContext, lease: LeaseIntent, isHeld: boolean) {
  const { client, clock, sleep, within } = context;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const end = await endLease(context, lease, within);
    // Only the list shows whether a gateway answered for a service with leases. Only such a service has pools.
    const isUnsupported = end.kind === 'failed' && knowsNoRoute(end.error);
    if (isUnsupported && !isHeld && !lease.isPool && (await isUnknownIn(client, lease, within))) {
      return { kind: 'ended', released: [], lost: [] } as const;
    }
    const isOver = within.signal?.aborted === true || clock() + pauseMs >= within.deadline;
    if (!isUnsupported || isOver) return end;
    await sleep(pauseMs, within.signal);
  }
}

async function isUnknownIn(
  client: Client,
  { workspace, path, lease }: LeaseIntent,
  within: CallLimits,
): Promise<boolean> {
  const found = await lookUp(client, { workspace, path, attempts: 'once' }, within);
  // Without a list, nothing more can be known.
  if (found.kind === 'failed') return isUnreadable(found.error);
  return found.kind !== 'locked' || found.lock.raw['lease'] !== lease;
}

/** The service decides what happened to the locks of the lease, whatever the ledger has. */
function leaseResults(
  { client, candidates }: ReleaseContext,
  lease: LeaseIntent,
  held: readonly JobLock[],
  end: { readonly released: readonly LockPath[]; readonly lost: readonly LostLock[] },
): readonly PathResult[] {
  const now = client.serverNow();
  const released = new Set<string>(end.released);
  const lost = new Map<string, LostLock>(end.lost.map((one) => [one.path, one]));
  const known = new Set(held.map(({ grant }) => grant.path));
  // The response that granted them was lost, or the ledger is. Only in the latter case, the job relied on them.
  const reliedOn = candidates.ledgerError === undefined ? [] : lost.values().map(({ path }) => path);
  const others = [...end.released, ...reliedOn].filter((path) => !known.has(path));
  return [...held, ...others.map((path) => unknownCandidate(lease, path))].map((one) => {
    if (released.has(one.grant.path)) return releasedResult(one.grant);
    const { reason, holder } = lost.get(one.grant.path) ?? {};
    const candidate = { ...one, mayBeReleased: one.mayBeReleased && reason === 'released' };
    if (holder !== undefined) return replacedResult(candidate, holder, candidates, now);
    return goneOrLost(candidate, candidates, now);
  });
}

const unknownCandidate = ({ service, workspace, step, lease, type, at }: LeaseIntent, path: LockPath): JobLock => {
  const lock = { path, type, expires_at: at, lease };
  const grant = { kind: 'granted', service, workspace, step, path, key: lease, waitedMs: 0, lock, at } as const;
  return { grant, mayBeReleased: true };
};
