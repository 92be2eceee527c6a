import type { ServiceError, Within } from '../../client/client.ts';
import { type Duration, milliseconds, span } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { type Context, defaultLimits } from '../context.ts';
import type { Connection } from '../inputs/load.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { isTransient, lastAttemptMs, retryAfterOf } from '../retry.ts';
import { inParallel } from './in-parallel.ts';
import { createListener } from './listen.ts';
import { heldText } from './messages.ts';
import { cleanupLimits, type ReleaseResult } from './release.ts';
import type { Conflict, LockSession, LockTerms } from './session.ts';

/** What came of asking for a set of locks. */
interface BatchResult {
  readonly acquired: readonly Grant[];
  readonly unclear: readonly Intent[];
  /** The first path that somebody else holds. */
  readonly conflict: Conflict | undefined;
  /** The first request that failed otherwise. */
  readonly error: ServiceError | undefined;
}

/** What came of giving locks back. */
export interface GiveBackResult {
  readonly releases: readonly { readonly grant: Grant; readonly result: ReleaseResult }[];
  /** Whether they were granted is not known, so they are left to their ttl. */
  readonly unproven: readonly Intent[];
}

/** What came of one attempt to take all: every lock, or none. */
type RoundResult =
  | { readonly kind: 'acquired'; readonly grants: readonly Grant[] }
  | { readonly kind: 'held'; readonly conflict: Conflict; readonly back: GiveBackResult }
  | { readonly kind: 'failed'; readonly error: ServiceError; readonly back: GiveBackResult }
  /** The first lock ended before the last was taken. */
  | { readonly kind: 'too-short'; readonly ended: Grant; readonly back: GiveBackResult }
  | { readonly kind: 'cancelled'; readonly back: GiveBackResult };

export interface WaitResult {
  /** The last round. */
  readonly round: RoundResult;
  readonly waitedMs: number;
  /** What was last seen to be in the way. */
  readonly lastConflict: Conflict | undefined;
  /** Of all rounds: what may have been granted without anybody knowing. */
  readonly unproven: readonly Intent[];
}

interface AcquireContext extends Pick<Context, 'client' | 'clock' | 'sleep' | 'random' | 'signal' | 'log'> {
  readonly connection: Pick<Connection, 'requestTimeout'>;
  readonly session: LockSession;
  readonly terms: LockTerms;
}

/**
 * Asks for the paths until one cannot be had: all or nothing, so there is no use in going on. The first one alone: of
 * several jobs that want the same paths one gets it, and the others have nothing to give back. The rest in parallel.
 */
async function acquireBatch(
  { session, terms, signal }: AcquireContext,
  paths: readonly LockPath[],
  within: Within,
): Promise<BatchResult> {
  const acquired: Grant[] = [];
  const unclear: Intent[] = [];
  let conflict: Conflict | undefined;
  let error: ServiceError | undefined;
  const goOn = (): boolean => conflict === undefined && error === undefined && !signal.aborted;

  async function acquireOne(path: LockPath): Promise<void> {
    const result = await session.acquire(path, terms, within);
    if (result.kind === 'acquired') {
      acquired.push(result.grant);
      return;
    }
    if (result.kind === 'unclear') unclear.push(result.intent);
    const inTheWay = result.kind === 'unclear' ? result.conflict : result.kind === 'held' ? result : undefined;
    if (inTheWay === undefined) error ??= result.error;
    else conflict ??= inTheWay;
  }

  await inParallel(paths.slice(0, 1), acquireOne, goOn);
  await inParallel(paths.slice(1), acquireOne, goOn);
  return { acquired, unclear, conflict, error };
}

/** Gives back what was granted, and what turns out to have been granted once the service is asked again. */
export async function giveBack(
  session: LockSession,
  { acquired, unclear }: Pick<BatchResult, 'acquired' | 'unclear'>,
  within: Within,
): Promise<GiveBackResult> {
  const releases: { grant: Grant; result: ReleaseResult }[] = [];
  const unproven: Intent[] = [];

  async function release(grant: Grant): Promise<void> {
    releases.push({ grant, result: await session.release(grant, within) });
  }

  async function settle(intent: Intent): Promise<void> {
    const result = await session.settle(intent, within);
    if (result.kind === 'acquired') await release(result.grant);
    else if (result.kind === 'unclear') unproven.push(intent);
  }

  await inParallel(acquired, release);
  await inParallel(unclear, settle);
  return { releases, unproven };
}

/** What may be there still, and is to be given back later. */
const owedAfter = ({ releases }: GiveBackResult) =>
  releases.flatMap(({ grant, result }) =>
    result.kind === 'failed' || result.kind === 'unclear' ? [{ grant, error: result.error }] : [],
  );

/** What is not settled by then is left to the post-step. */
const giveBackMs = 10_000;

async function giveBackInTime(
  { clock, session, signal }: AcquireContext,
  batch: Pick<BatchResult, 'acquired' | 'unclear'>,
): Promise<GiveBackResult> {
  const limits = cleanupLimits(clock, giveBackMs, signal);
  return giveBack(session, batch, limits).finally(limits.lift);
}

/** Takes all, or gives back what it took. */
async function acquireAllOrNone(
  context: AcquireContext,
  paths: readonly LockPath[],
  owed: readonly Grant[],
  within: Within,
): Promise<RoundResult> {
  const { client, signal } = context;
  // What could not be given back in the round before would be in our own way.
  const before = await giveBackInTime(context, { acquired: owed, unclear: [] });
  const [stuck] = owedAfter(before);
  if (stuck !== undefined) return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck.error, back: before };

  const batch = await acquireBatch(context, paths, within);
  const ended = batch.acquired.find(({ lock }) => Date.parse(lock.expires_at) <= client.serverNow());
  if (batch.acquired.length === paths.length && ended === undefined && !signal.aborted) {
    return { kind: 'acquired', grants: batch.acquired };
  }
  const back = await giveBackInTime(context, batch);
  if (signal.aborted) return { kind: 'cancelled', back };
  if (batch.conflict !== undefined) return { kind: 'held', conflict: batch.conflict, back };
  if (batch.error !== undefined) return { kind: 'failed', error: batch.error, back };
  if (ended !== undefined) return { kind: 'too-short', ended, back };
  throw new Error('Locks are missing, and nothing says why.');
}

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
const growth = 1.5;

/** Randomized: all who wait for the same path may have been told the same time. */
function pauseMs(round: number, askedMs = 0, random: () => number): number {
  const backoff = Math.min(maxPauseMs, firstPauseMs * growth ** round);
  return Math.max(backoff / 2, askedMs) + (random() * Math.max(backoff, askedMs)) / 2;
}

/** First the path that was held: while it still is, nothing else needs to be taken and given back. */
const blockedFirst = (paths: readonly LockPath[], blocked: LockPath | undefined): readonly LockPath[] =>
  blocked === undefined ? paths : [blocked, ...paths.filter((path) => path !== blocked)];

/** Tries until all locks are taken or the wait is over. One deadline holds for all that is done until then. */
export async function acquireLocks(
  context: AcquireContext,
  paths: readonly LockPath[],
  wait: Duration,
): Promise<WaitResult> {
  const { client, clock, sleep, random, signal, log, terms } = context;
  // In one order for everybody: two jobs that want the same paths meet at the first of them.
  const sorted = paths.toSorted();
  const began = clock();
  const deadline = began + milliseconds(wait);
  const withoutWait = defaultLimits(context);
  const listen = createListener(context, terms.workspace);
  const unproven = new Map<string, Intent>();
  let lastConflict: Conflict | undefined;
  let owed: readonly Grant[] = [];
  for (let number = 0; ; number += 1) {
    const roundBegan = clock();
    // The first round has the time it would have without a wait, less what giving back can take.
    const roundEnds = number === 0 ? Math.max(deadline, withoutWait.deadline - giveBackMs) : deadline;
    const inOrder = blockedFirst(sorted, lastConflict?.path);
    const round = await acquireAllOrNone(context, inOrder, owed, { deadline: roundEnds, signal });
    if (round.kind !== 'acquired') {
      for (const intent of round.back.unproven) unproven.set(intent.key, intent);
      owed = owedAfter(round.back).map(({ grant }) => grant);
    }
    if (round.kind === 'held') lastConflict = round.conflict;
    const waitedMs = number === 0 ? 0 : clock() - began;
    const result: WaitResult = { round, waitedMs, lastConflict, unproven: [...unproven.values()] };

    const goesOn = round.kind === 'held' || (round.kind === 'failed' && isTransient(round.error));
    const reservedMs = lastAttemptMs(clock() - roundBegan);
    const left = deadline - clock();
    if (!goesOn || left <= reservedMs) return result;

    const why =
      round.kind === 'held'
        ? `${heldText(round.conflict.path, round.conflict.holder, client.serverNow(), true)}.`
        : round.error.message;
    log.line(`${why} Waiting, ${span(left / 1_000)} left.`);
    const until = deadline - reservedMs;
    if (round.kind === 'held' && (await listen(round.conflict.path, until, deadline)) === 'free') continue;
    const askedMs = round.kind === 'held' ? round.conflict.retryAfterMs : retryAfterOf(round.error);
    await sleep(Math.min(pauseMs(number, askedMs, random), until - clock()), signal);
  }
}
