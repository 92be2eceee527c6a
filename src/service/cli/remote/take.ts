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
import { CommandError } from '../definition/command.ts';
import { holderText } from '../output/locks.ts';
import { type RemoteService, shown } from './remote-command.ts';

interface TakeRequest {
  readonly paths: readonly LockPath[];
  readonly ttl: Ttl;
  readonly note: string | undefined;
  /** How long to wait for paths that others hold. */
  readonly wait: Duration;
}

/** Locks all paths or none, and waits up to `wait` for paths that others hold. */
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
        `It is unknown whether ${path} was locked. If it was, the lock expires ${formatDuration(request.ttl)} after it was taken.`,
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
  let blocked: LockPath | undefined;
  for (;;) {
    const began = steadyClock();
    const seconds = Math.max(0, Math.min(maxWaitSeconds, Math.floor((deadline - began) / 1_000)));
    const round = await takeAllOrNone(remote, request, unanswered, blocked && { path: blocked, seconds });
    const leftMs = deadline - steadyClock();
    switch (round.kind) {
      case 'taken':
        return round.locks;
      case 'failed':
        // Transient errors do not end the wait: the service may be restarting.
        if (leftMs <= 0 || !isTransient(round.error)) throw round.error;
        remote.tell(`${round.error.message} Retrying, ${formatSpan(leftMs / 1_000)} left.`);
        await pause(remote, deadline);
        break;
      case 'interrupted':
        throw new CommandError('Interrupted. All locks taken were released again.');
      case 'held': {
        const { path, holder } = round;
        const held = `${path} is held by ${holderText(holder === undefined ? { path } : shown(holder))}.`;
        const advice = request.wait.seconds > 0 ? 'Increase --wait to wait longer' : 'To wait for it, add --wait 15m';
        if (leftMs <= 0) throw new CommandError(`${held} Nothing was locked. ${advice}.`);
        remote.tell(`${held} Waiting, ${formatSpan(leftMs / 1_000)} left.`);
        blocked = path;
        if (steadyClock() - began < minPauseMs) await pause(remote, deadline);
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

/**
 * Waits for the path that blocked the last round before it requests others. `unanswered` has the keys of unanswered
 * requests: a retry with the same key does not take a second lock.
 */
async function takeAllOrNone(
  remote: RemoteService,
  { paths, ttl, note }: TakeRequest,
  unanswered: Map<LockPath, string>,
  blocked: { readonly path: LockPath; readonly seconds: number } | undefined,
): Promise<Round> {
  const { client, workspace, interrupted, within } = remote;
  const taken: AcquiredLock[] = [];
  let refusal: Exclude<Round, { kind: 'taken' }> | undefined;

  async function takeOne(path: LockPath): Promise<void> {
    const idempotencyKey = unanswered.get(path) ?? crypto.randomUUID();
    const request = { workspace, path, type: 'exclusive', ttl, note, idempotencyKey };
    const seconds = path === blocked?.path ? blocked.seconds : 0;
    const first = await client.acquireLock(
      {
        ...request,
        firstSentAt: unanswered.has(path) ? Number.NaN : undefined,
        ...(seconds > 0 && { line: { seconds, oneIsEnough: false, urgency: 3 } }),
      },
      within(),
    );
    // A retry with the same key returns the lost response, or takes the lock now: either way it can be rolled back.
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

  // Competitors for the same paths collide on the first of the sorted paths, so that losers have nothing to roll back.
  const [first, ...rest] =
    blocked === undefined ? paths : [blocked.path, ...paths.filter((path) => path !== blocked.path)];
  await inParallel(first === undefined ? [] : [first], takeOne);
  await inParallel(rest, takeOne, () => refusal === undefined && !interrupted.aborted);
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

/** Time limit of a rollback, which Ctrl-C does not abort. */
const rollBackMs = 10_000;
const toGiveBack = () => ({ deadline: steadyClock() + rollBackMs });

/** Well below a minute, because proxies cut connections that are silent for that long. */
const maxWaitSeconds = 30;
const minPauseMs = 1_000;

/** Random, so that waiting clients do not all retry at the same moment. */
const pause = ({ interrupted }: RemoteService, deadline: number): Promise<void> =>
  sleep(Math.min(minPauseMs * (1 + Math.random()), deadline - steadyClock()), interrupted);
