import {
  inParallel,
  type KnownLock,
  type ServiceError,
  sleep,
  steadyClock,
  type TakenLock,
} from '../../../client/client.ts';
import { type Duration, formatDuration, milliseconds, span } from '../../../interface/duration.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import type { Ttl } from '../../../interface/ttl.ts';
import { Failure } from '../command.ts';
import { holderText } from '../output/locks.ts';
import { type Remote, shown } from './remote-command.ts';

interface TakeRequest {
  readonly paths: readonly LockPath[];
  readonly ttl: Ttl;
  readonly note: string | undefined;
  /** How long to wait for paths that others hold. */
  readonly wait: Duration;
}

/** What came of asking for all paths once: all locks, or none. */
type Round =
  | { readonly kind: 'taken'; readonly locks: readonly TakenLock[] }
  | { readonly kind: 'held'; readonly path: LockPath; readonly holder: KnownLock | undefined }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | { readonly kind: 'interrupted' };

/** For what is settled after Ctrl-C, too. */
const giveBackMs = 10_000;
const toGiveBack = () => ({ deadline: steadyClock() + giveBackMs });

async function giveBack({ client, workspace, tell }: Remote, lock: TakenLock): Promise<void> {
  const { path, expires_at } = lock;
  const result = await client.releaseLock({ workspace, path, proof: lock }, toGiveBack());
  if (result.kind !== 'failed') return;
  tell(`${path} could not be released again, and stays locked until ${expires_at}: ${result.error.message}`);
}

async function takeAllOrNone(remote: Remote, { paths, ttl, note }: TakeRequest): Promise<Round> {
  const { client, workspace, interrupted, within, tell } = remote;
  const taken: TakenLock[] = [];
  let refusal: Exclude<Round, { kind: 'taken' }> | undefined;

  async function takeOne(path: LockPath): Promise<void> {
    const request = { workspace, path, type: 'exclusive', ttl, note, idempotencyKey: crypto.randomUUID() };
    const first = await client.acquireLock(request, within());
    // An answer got lost. The same key asks how it went, or takes the lock now: either way it is known, and can be given back.
    const isUnclear = first.kind === 'unclear';
    const result = isUnclear ? await client.acquireLock({ ...request, keySentBefore: true }, toGiveBack()) : first;
    switch (result.kind) {
      case 'acquired':
        taken.push(result.lock);
        return;
      case 'held':
        refusal ??= { kind: 'held', path, holder: result.holder };
        return;
      case 'unclear':
        tell(
          `It is not known whether ${path} was locked. If it was, that lock ends ${formatDuration(ttl)} after it was taken.`,
        );
        refusal ??= { kind: 'failed', error: result.error };
        return;
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

/** Proxies cut connections that are silent for a minute. */
const maxWaitSeconds = 30;
const minPauseMs = 1_000;

/** Returns when the path may be free; the service says so, where it can. */
async function untilFree({ client, workspace, interrupted }: Remote, path: LockPath, deadline: number): Promise<void> {
  const began = steadyClock();
  const seconds = Math.min(maxWaitSeconds, Math.floor((deadline - began) / 1_000));
  if (seconds >= 1) {
    const result = await client.waitForRelease({ workspace, path, seconds }, { deadline, signal: interrupted });
    if (result.kind === 'free' || steadyClock() - began >= minPauseMs) return;
  }
  // At random, because all who wait have been told the same.
  await sleep(Math.min(minPauseMs * (1 + Math.random()), deadline - steadyClock()), interrupted);
}

/** Takes all paths or none, and waits as long as it may for those that others hold. */
export async function takeLocks(remote: Remote, request: TakeRequest): Promise<readonly TakenLock[]> {
  const deadline = steadyClock() + milliseconds(request.wait);
  const paths = [...new Set(request.paths)].toSorted();
  for (;;) {
    const round = await takeAllOrNone(remote, { ...request, paths });
    switch (round.kind) {
      case 'taken':
        return round.locks;
      case 'failed':
        throw round.error;
      case 'interrupted':
        throw new Failure('It was interrupted, and has locked nothing.');
      case 'held': {
        const { path, holder } = round;
        const held = `${path} is held by ${holderText(holder === undefined ? { path } : shown(holder))}.`;
        const leftMs = deadline - steadyClock();
        const advice = request.wait.seconds > 0 ? 'Raise --wait to wait longer' : 'To wait for it, add --wait 15m';
        if (leftMs <= 0) throw new Failure(`${held} Nothing was locked. ${advice}.`);
        remote.tell(`${held} Waiting, ${span(leftMs / 1_000)} left.`);
        await untilFree(remote, path, deadline);
      }
    }
  }
}
