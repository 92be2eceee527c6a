import type { KnownLock, WorkspaceId } from '../../client/client.ts';
import { span } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Context } from '../context.ts';
import { type Blocked, blockedText } from './messages.ts';
import type { Conflict } from './session.ts';

/** Proxies cut connections that are silent for a minute. */
const maxSeconds = 30;

/** A service that waited would not have answered sooner than this. */
const quickMs = 1_000;
const maxQuickAnswers = 3;

/** Each takes a connection, and a place among those that the service lets wait. */
const maxPaths = 8;

/** What is not listened to may come free in the meantime. */
const maxSecondsForSome = 5;

/** A service that is not known to wait may be one that does not answer such a request. */
const maxFailures = 3;

/** So a service that has come back is asked within 300 ms. */
const minReconnectMs = 100;
const maxReconnectMs = 200;

/** A gateway may refuse nothing but the requests that wait: after so long, the lock itself is asked for. */
const maxFailingMs = 30_000;

/** The same with what the service says now of one of the paths. */
function withHolder(
  { conflicts: [first, ...others], ...blocked }: Blocked,
  path: LockPath,
  holder: KnownLock,
): Blocked {
  const updated = (conflict: Conflict): Conflict => (conflict.path === path ? { ...conflict, holder } : conflict);
  return { ...blocked, conflicts: [updated(first), ...others.map(updated)] };
}

/**
 * Lets the service say when one of some paths is free, for as long as it supports that (RFC 7240, `Prefer: wait`). A service that
 * does not is not asked again; one that is known to may be restarting, and is asked until it is back.
 */
export function createListener(
  {
    client,
    clock,
    sleep,
    random,
    signal,
    log,
  }: Pick<Context, 'client' | 'clock' | 'sleep' | 'random' | 'signal' | 'log'>,
  workspace: WorkspaceId,
) {
  let listens = true;
  let supportsWait = false;
  let quickAnswers = 0;
  let failures = 0;

  function isTooQuick(began: number): boolean {
    quickAnswers = clock() - began < quickMs ? quickAnswers + 1 : 0;
    return quickAnswers > maxQuickAnswers;
  }

  /** The first answer ends the wait for the others: all of them have the same time. */
  async function firstAnswer(paths: readonly LockPath[], seconds: number, deadline: number) {
    const answered = new AbortController();
    const within = { deadline, signal: AbortSignal.any([signal, answered.signal]) };
    const ask = async (path: LockPath) => ({
      path,
      result: await client.waitForRelease({ workspace, path, seconds }, within),
    });
    return Promise.race(paths.map(ask)).finally(() => answered.abort());
  }

  /** The path to ask for now; without one, ask again after a while. */
  return async (blocked: Blocked, until: number, waitEnds: number): Promise<LockPath | undefined> => {
    const paths = blocked.conflicts.slice(0, maxPaths).map(({ path }) => path);
    const listensToAll = paths.length === blocked.conflicts.length;
    let failingFrom = Number.POSITIVE_INFINITY;
    supportsWait ||= blocked.conflicts.some((conflict) => conflict.supportsWait);
    while (listens && !signal.aborted) {
      const began = clock();
      const longest = listensToAll ? maxSeconds : maxSecondsForSome;
      const seconds = Math.min(longest, Math.floor((until - began) / 1_000));
      if (seconds < 1) return undefined;
      const { path, result } = await firstAnswer(paths, seconds, until);
      failingFrom = result.kind === 'failed' ? Math.min(failingFrom, clock()) : Number.POSITIVE_INFINITY;
      switch (result.kind) {
        case 'free':
          supportsWait = true;
          return isTooQuick(began) ? undefined : path;
        case 'held': {
          supportsWait = true;
          if (isTooQuick(began) || !listensToAll) return undefined;
          const left = span((waitEnds - clock()) / 1_000);
          const held = withHolder(blocked, path, result.holder);
          log.line(`${blockedText(held, client.serverNow(), true)}. Waiting, ${left} left.`);
          break;
        }
        case 'failed': {
          const tookMs = clock() - began;
          // Cut off while the service held its answer back; one that hangs is silent for longer.
          supportsWait ||= tookMs >= quickMs && tookMs < seconds * 1_000;
          if (!supportsWait) {
            failures += 1;
            listens = failures < maxFailures;
            return undefined;
          }
          if (clock() - failingFrom >= maxFailingMs) return path;
          const pauseMs = minReconnectMs + random() * (maxReconnectMs - minReconnectMs);
          await sleep(Math.min(Math.max(result.retryAfterMs ?? 0, pauseMs), until - clock()), signal);
          break;
        }
        case 'unsupported':
          listens = false;
          return undefined;
      }
    }
    return undefined;
  };
}
