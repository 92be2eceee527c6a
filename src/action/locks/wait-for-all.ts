import type { ServiceError, Within, WorkspaceId } from '../../client/client.ts';
import type { Duration } from '../../interface/duration.ts';
import { milliseconds, span } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { ordinaryLimits, type Parts } from '../operations/parts.ts';
import { type GivenBack, giveBackAll } from './give-back.ts';
import { heldText } from './holder-text.ts';
import type { Holding, Keeper } from './keeper.ts';
import { lastAttemptMs } from './last-attempt.ts';
import { createListener } from './listen.ts';
import { askedToWaitMs, isPassing } from './passing.ts';
import { type Take, takeAll } from './take-all.ts';
import { windingUp } from './winding-up.ts';

/** What is not settled by then is the post-step's. */
const giveBackMs = 10_000;

const firstPauseMs = 1_000;
const longestPauseMs = 10_000;
const growth = 1.5;

export type Round =
  | { readonly kind: 'acquired'; readonly taken: readonly Grant[] }
  | { readonly kind: 'held'; readonly holding: Holding; readonly back: GivenBack }
  | { readonly kind: 'failed'; readonly error: ServiceError; readonly back: GivenBack }
  /** The first of them ended before the last was taken. */
  | { readonly kind: 'too-short'; readonly ended: Grant; readonly back: GivenBack }
  | { readonly kind: 'cancelled'; readonly back: GivenBack };

export interface WaitParts extends Pick<Parts, 'client' | 'clock' | 'sleep' | 'random' | 'signal' | 'log'> {
  readonly requestTimeoutMs: number;
  readonly workspace: WorkspaceId;
  readonly keeper: Keeper;
  readonly take: Take;
}

async function giveBack(
  { clock, keeper, signal }: WaitParts,
  what: { readonly taken: readonly Grant[]; readonly unclear: readonly Intent[] },
): Promise<GivenBack> {
  const limits = windingUp(clock, giveBackMs, signal);
  return giveBackAll(keeper, what, limits).finally(limits.lift);
}

/** Takes all, or gives back what it took. */
async function playRound(
  parts: WaitParts,
  paths: readonly LockPath[],
  owed: readonly Grant[],
  within: Within,
): Promise<Round> {
  const { client, take, signal } = parts;
  // What could not be given back in the round before would stand in our own way.
  const before = await giveBack(parts, { taken: owed, unclear: [] });
  const [stuck] = before.failed;
  if (stuck !== undefined) return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck.error, back: before };

  const haul = await takeAll(take, paths, within, signal);
  const ended = haul.taken.find(({ lock }) => Date.parse(lock.expires_at) <= client.serverNow());
  if (haul.taken.length === paths.length && ended === undefined && !signal.aborted) {
    return { kind: 'acquired', taken: haul.taken };
  }
  const back = await giveBack(parts, haul);
  if (signal.aborted) return { kind: 'cancelled', back };
  if (haul.held !== undefined) return { kind: 'held', holding: haul.held, back };
  if (haul.error !== undefined) return { kind: 'failed', error: haul.error, back };
  if (ended !== undefined) return { kind: 'too-short', ended, back };
  throw new Error('Locks are missing, and nothing says why.');
}

/** Each waits for a time of its own: those who wait for the same path may all have been told the same. */
function pauseMs(round: number, askedMs = 0, random: () => number): number {
  const backoff = Math.min(longestPauseMs, firstPauseMs * growth ** round);
  return Math.max(backoff / 2, askedMs) + (random() * Math.max(backoff, askedMs)) / 2;
}

export interface Played {
  readonly round: Round;
  readonly waitedMs: number;
  /** What stood in the way when that was last seen. */
  readonly lastHolding: Holding | undefined;
  /** Of all rounds: what may have been granted without anybody learning of it. */
  readonly unproven: readonly Intent[];
}

/** First what was held the last time: while it still is, nothing else needs to be taken and given back. */
const inTurn = (paths: readonly LockPath[], blocked: LockPath | undefined): readonly LockPath[] =>
  blocked === undefined ? paths : [blocked, ...paths.filter((path) => path !== blocked)];

/** Plays rounds until one of them takes all, or the wait is over. One deadline holds for all that it does until then. */
export async function waitForAll(parts: WaitParts, paths: readonly LockPath[], wait: Duration): Promise<Played> {
  const { client, clock, sleep, random, signal, log } = parts;
  // In one order for everybody: two that want the same paths meet at the first of them.
  const sorted = paths.toSorted();
  const began = clock();
  const deadline = began + milliseconds(wait);
  const ordinary = ordinaryLimits(parts);
  const listen = createListener(parts);
  const unproven = new Map<string, Intent>();
  let lastHolding: Holding | undefined;
  let owed: readonly Grant[] = [];
  for (let number = 0; ; number += 1) {
    const roundBegan = clock();
    // The first round has the time that it has without a wait, and leaves of it what giving back can take.
    const within = { deadline: number === 0 ? Math.max(deadline, ordinary.deadline - giveBackMs) : deadline, signal };
    const round = await playRound(parts, inTurn(sorted, lastHolding?.path), owed, within);
    if (round.kind !== 'acquired') {
      for (const intent of round.back.unproven) unproven.set(intent.key, intent);
      owed = round.back.failed.map(({ grant }) => grant);
    }
    if (round.kind === 'held') lastHolding = round.holding;
    const waitedMs = number === 0 ? 0 : clock() - began;
    const played: Played = { round, waitedMs, lastHolding, unproven: [...unproven.values()] };

    const goesOn = round.kind === 'held' || (round.kind === 'failed' && isPassing(round.error));
    const reservedMs = lastAttemptMs(clock() - roundBegan);
    const left = deadline - clock();
    if (!goesOn || left <= reservedMs) return played;

    const why =
      round.kind === 'held'
        ? `${heldText(round.holding.path, round.holding.holder, client.serverNow(), true)}.`
        : round.error.message;
    log.line(`${why} Waiting, ${span(left / 1_000)} left.`);
    const until = deadline - reservedMs;
    if (round.kind === 'held' && (await listen(round.holding.path, until, deadline)) === 'free') continue;
    const askedMs = round.kind === 'held' ? round.holding.retryAfterMs : askedToWaitMs(round.error);
    await sleep(Math.min(pauseMs(number, askedMs, random), until - clock()), signal);
  }
}
