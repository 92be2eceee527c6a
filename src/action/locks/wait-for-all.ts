import type { ServiceError, Within } from '../../client/client.ts';
import type { Duration } from '../../interface/duration.ts';
import { milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { ordinaryLimits, type Parts } from '../operations/parts.ts';
import { span } from '../report/words.ts';
import { type GivenBack, giveBackAll } from './give-back.ts';
import { heldText } from './holder-text.ts';
import type { Holding, Keeper } from './keeper.ts';
import { type Haul, isComplete, takeAll } from './take-all.ts';

/** A cancelled step has to be gone in 5 s; another is not in a hurry to give back. */
const afterCancelMs = 4_000;
const ordinaryGiveBackMs = 30_000;

const firstPauseMs = 1_000;
const longestPauseMs = 10_000;
const growth = 1.5;

/** The last attempt is made a moment before the wait is over, not after it. */
const lastAttemptMs = 300;

/** First what was held the last time: while it still is, nothing else needs to be taken and given back. */
async function takeInTurn(
  keeper: Keeper,
  paths: readonly LockPath[],
  blocked: LockPath | undefined,
  within: Within,
  signal: AbortSignal,
): Promise<Haul> {
  if (blocked === undefined) return takeAll(keeper, paths, within, signal);
  const first = await takeAll(keeper, [blocked], within, signal);
  if (!isComplete(first)) return first;
  const others = paths.filter((path) => path !== blocked);
  const rest = await takeAll(keeper, others, within, signal);
  return { ...rest, taken: [...first.taken, ...rest.taken] };
}

export type Round =
  | { readonly kind: 'acquired'; readonly haul: Haul }
  | { readonly kind: 'held'; readonly holding: Holding; readonly haul: Haul; readonly back: GivenBack }
  | { readonly kind: 'failed'; readonly error: ServiceError; readonly haul: Haul; readonly back: GivenBack }
  | { readonly kind: 'cancelled'; readonly haul: Haul; readonly back: GivenBack };

/** Takes all, or gives back what it took. */
async function playRound(
  parts: Parts,
  keeper: Keeper,
  paths: readonly LockPath[],
  blocked: LockPath | undefined,
  within: Within,
): Promise<Round> {
  const { clock, signal } = parts;
  const haul = await takeInTurn(keeper, paths, blocked, within, signal);
  if (isComplete(haul) && haul.taken.length === paths.length) return { kind: 'acquired', haul };
  const patience = signal.aborted ? afterCancelMs : ordinaryGiveBackMs;
  const back = await giveBackAll(keeper, haul, { deadline: clock() + patience });
  if (signal.aborted) return { kind: 'cancelled', haul, back };
  if (haul.error !== undefined) return { kind: 'failed', error: haul.error, haul, back };
  if (haul.held !== undefined) return { kind: 'held', holding: haul.held, haul, back };
  throw new Error('Locks are missing, and nothing says why.');
}

/** Each waits for a time of its own, so that those who wait for the same path do not come all at once. */
function pauseFor(retryAfterMs: number | undefined, round: number, random: () => number): number {
  const backoff = Math.min(longestPauseMs, firstPauseMs * growth ** round) * (0.5 + random() / 2);
  return Math.max(backoff, (retryAfterMs ?? 0) * (1 + random() / 4));
}

export interface Played {
  readonly round: Round;
  readonly waitedMs: number;
}

/** Trouble that may be over at the next attempt: it does not end a wait. */
function isPassing({ failure, status }: ServiceError): boolean {
  if (status !== undefined) return status === 408 || status === 425 || status === 429 || status >= 500;
  return failure.kind === 'connection' || failure.kind === 'timeout';
}

/** Plays rounds until one of them takes all, or the wait is over. One deadline holds for everything after the first. */
export async function waitForAll(
  parts: Parts,
  keeper: Keeper,
  paths: readonly LockPath[],
  wait: Duration,
): Promise<Played> {
  const { client, clock, sleep, random, signal, log } = parts;
  const began = clock();
  const deadline = began + milliseconds(wait);
  let blocked: LockPath | undefined;
  let waiting = false;
  for (let number = 0; ; number += 1) {
    const within = waiting ? { deadline, signal } : ordinaryLimits(parts);
    const round = await playRound(parts, keeper, paths, blocked, within);
    const played = { round, waitedMs: waiting ? clock() - began : 0 };
    const left = deadline - clock();
    const goesOn = round.kind === 'held' || (round.kind === 'failed' && isPassing(round.error));
    if (!goesOn || left <= lastAttemptMs) return played;
    waiting = true;
    const timeLeft = `Waiting, ${span(left / 1_000)} left.`;
    if (round.kind === 'held') {
      const { path, holder } = round.holding;
      blocked = path;
      log.line(`${heldText(path, holder, client.serverNow(), true)}. ${timeLeft}`);
    } else log.line(`${round.error.message} ${timeLeft}`);
    const retryAfterMs = round.kind === 'held' ? round.holding.retryAfterMs : undefined;
    await sleep(Math.min(pauseFor(retryAfterMs, number, random), left - lastAttemptMs), signal);
  }
}
