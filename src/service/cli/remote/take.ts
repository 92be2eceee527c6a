import {
  type AcquiredLock,
  inParallel,
  isTransient,
  type KnownLock,
  type ServiceError,
  sleep,
  steadyClock,
} from '../../../client/client.ts';
import { type Duration, formatDuration, formatSpan, milliseconds } from '../../../interface/duration.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import type { Ttl } from '../../../interface/ttl.ts';
import { CommandError } from '../command.ts';
import { holderText } from '../output/locks.ts';
import { type RemoteService, shown } from './remote-command.ts';

interface TakeRequest {
  readonly paths: readonly LockPath[];
  readonly ttl: Ttl;
  readonly note: string | undefined;
  /** How long to wait for paths that others hold. */
  readonly wait: Duration;
}

/** Takes all paths or none, and waits as long as it may for those that others hold. */
export async function acquireRemoteLocks(
  remote: RemoteService,
  request: TakeRequest,
): Promise<readonly AcquiredLock[]> {
  const unanswered = new Map<LockPath, string>();
  const paths = [...new Set(request.paths)].toSorted();
  try {
    return await takeOrWait(remote, { ...request, paths }, unanswered);
  } catch (error) {
    for (const path of unanswered.keys()) {
      remote.tell(
        `It is not known whether ${path} was locked. If it was, that lock ends ${formatDuration(request.ttl)} after it was taken.`,
      );
    }
    throw error;
  }
}

async function takeOrWait(
  remote: RemoteService,
  request: TakeRequest,
  unanswered: Map<LockPath, string>,
): Promise<readonly AcquiredLock[]> {
  const deadline = steadyClock() + milliseconds(request.wait);
  for (;;) {
    const round = await takeAllOrNone(remote, request, unanswered);
    const leftMs = deadline - steadyClock();
    switch (round.kind) {
      case 'taken':
        return round.locks;
      case 'failed':
        // A service that is being restarted does not end a wait.
        if (leftMs <= 0 || !isTransient(round.error)) throw round.error;
        remote.tell(`${round.error.message} Trying again, ${formatSpan(leftMs / 1_000)} left.`);
        await pause(remote, deadline);
        break;
      case 'interrupted':
        throw new CommandError('It was interrupted, and has given back what it took.');
      case 'held': {
        const { path, holder } = round;
        const held = `${path} is held by ${holderText(holder === undefined ? { path } : shown(holder))}.`;
        const advice = request.wait.seconds > 0 ? 'Raise --wait to wait longer' : 'To wait for it, add --wait 15m';
        if (leftMs <= 0) throw new CommandError(`${held} Nothing was locked. ${advice}.`);
        remote.tell(`${held} Waiting, ${formatSpan(leftMs / 1_000)} left.`);
        await untilFree(remote, path, deadline);
      }
    }
  }
}

/** Result of one request for all paths: all locks, or none. */
type Round =
  | { readonly kind: 'taken'; readonly locks: readonly AcquiredLock[] }
  | { readonly kind: 'held'; readonly path: LockPath; readonly holder: KnownLock | undefined }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | { readonly kind: 'interrupted' };

/** `unclear` has the keys of requests without an answer: asked with the same one, the service takes no second lock. */
async function takeAllOrNone(
  remote: RemoteService,
  { paths, ttl, note }: TakeRequest,
  unanswered: Map<LockPath, string>,
): Promise<Round> {
  const { client, workspace, interrupted, within } = remote;
  const taken: AcquiredLock[] = [];
  let refusal: Exclude<Round, { kind: 'taken' }> | undefined;

  async function takeOne(path: LockPath): Promise<void> {
    const idempotencyKey = unanswered.get(path) ?? crypto.randomUUID();
    const request = { workspace, path, type: 'exclusive', ttl, note, idempotencyKey };
    const first = await client.acquireLock(
      { ...request, firstSentAt: unanswered.has(path) ? Number.NaN : undefined },
      within(),
    );
    // An answer got lost. The same key asks how it went, or takes the lock now: either way it is known, and can be given back.
    const isUnanswered = first.kind === 'unanswered';
    const result = isUnanswered
      ? await client.acquireLock({ ...request, firstSentAt: Number.NaN }, toGiveBack())
      : first;
    if (result.kind === 'unanswered') unanswered.set(path, idempotencyKey);
    else unanswered.delete(path);
    switch (result.kind) {
      case 'acquired':
        taken.push(result.lock);
        return;
      case 'held':
        refusal ??= { kind: 'held', path, holder: result.holder };
        return;
      case 'unanswered':
      case 'failed':
        refusal ??= { kind: 'failed', error: result.error };
    }
  }

  // One path alone first, the same for all who want the same paths: one of them gets it, and the others have nothing to give back.
  await inParallel(paths.slice(0, 1), takeOne);
  await inParallel(paths.slice(1), takeOne, () => refusal === undefined && !interrupted.aborted);
  if (taken.length === paths.length && !interrupted.aborted) return { kind: 'taken', locks: taken };
  await inParallel(taken, (lock) => giveBack(remote, lock));
  return interrupted.aborted || refusal === undefined ? { kind: 'interrupted' } : refusal;
}

async function giveBack({ client, workspace, tell }: RemoteService, lock: AcquiredLock): Promise<void> {
  const { path, expires_at } = lock;
  const result = await client.releaseLock({ workspace, path, proof: lock }, toGiveBack());
  if (result.kind !== 'failed') return;
  tell(`${path} could not be released again, and stays locked until ${expires_at}: ${result.error.message}`);
}

/** For what is settled after Ctrl-C, too. */
const rollBackMs = 10_000;
const toGiveBack = () => ({ deadline: steadyClock() + rollBackMs });

/** Proxies cut connections that are silent for a minute. */
const maxWaitSeconds = 30;
const minPauseMs = 1_000;

/** Returns when the path may be free; the service says so, where it can. */
async function untilFree(remote: RemoteService, path: LockPath, deadline: number): Promise<void> {
  const { client, workspace, interrupted } = remote;
  const began = steadyClock();
  const seconds = Math.min(maxWaitSeconds, Math.floor((deadline - began) / 1_000));
  if (seconds >= 1) {
    const result = await client.waitForRelease({ workspace, path, seconds }, { deadline, signal: interrupted });
    if (result.kind === 'free' || steadyClock() - began >= minPauseMs) return;
  }
  await pause(remote, deadline);
}

/** Random, because all waiting clients got the same time. */
const pause = ({ interrupted }: RemoteService, deadline: number): Promise<void> =>
  sleep(Math.min(minPauseMs * (1 + Math.random()), deadline - steadyClock()), interrupted);
