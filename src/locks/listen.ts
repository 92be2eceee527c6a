import type { KnownLock, WorkspaceId } from '../client/client.ts';
import { formatSpan } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext } from './context.ts';
import { type Blocked, blockedText } from './messages.ts';
import type { Conflict } from './session.ts';

/** Proxies cut connections that are idle for a minute. */
const maxSeconds = 30;

/** A faster response suggests that the service did not wait. */
const quickMs = 1_000;
const maxQuickResponses = 3;

/** Each path takes a connection, and one of the waiting requests that the service allows. */
const maxPaths = 8;

/** The wait on some of the paths is shorter: the others may become free meanwhile. */
const maxSecondsForSome = 5;

/** A service that is not known to support waiting may never answer such requests. */
const maxFailures = 3;

/** Lets a step notice within 300 ms that the service is back. */
const minReconnectMs = 100;
const maxReconnectMs = 200;

/**
 * A gateway may reject only the requests that wait. After this time without success, the step requests the lock itself.
 */
const maxVainMs = 30_000;

/**
 * Waits until the service reports that one of the paths is free (RFC 7240, `Prefer: wait`). A service that does not
 * support that is not asked again. One that does may be restarting, and is asked until it is back.
 */
export function createListener(
  {
    client,
    clock,
    sleep,
    random,
    signal,
    log,
  }: Pick<LockContext, 'client' | 'clock' | 'sleep' | 'random' | 'signal' | 'log'>,
  workspace: WorkspaceId,
) {
  let listens = true;
  let supportsWait = false;
  let quickResponses = 0;
  let failures = 0;

  /** The first response ends the other requests: all of them have the same timeout. */
  async function firstResponse(paths: readonly LockPath[], seconds: number, deadline: number) {
    const answered = new AbortController();
    const within = { deadline, signal: AbortSignal.any([signal, answered.signal]) };
    const ask = async (path: LockPath) => ({
      path,
      result: await client.waitForRelease({ workspace, path, seconds }, within),
    });
    return Promise.race(paths.map(ask)).finally(() => answered.abort());
  }

  /** Returns the path to request now. Undefined means to pause and then try all paths again. */
  return async (blocked: Blocked, until: number, waitEnds: number): Promise<LockPath | undefined> => {
    const paths = blocked.conflicts.slice(0, maxPaths).map(({ path }) => path);
    const listensToAll = paths.length === blocked.conflicts.length;
    const isOurService = blocked.conflicts.some((conflict) => conflict.supportsWait);
    let inVainFrom = Number.POSITIVE_INFINITY;
    supportsWait ||= isOurService;
    while (listens && !signal.aborted) {
      const began = clock();
      const longest = listensToAll ? maxSeconds : maxSecondsForSome;
      const seconds = Math.min(longest, Math.floor((until - began) / 1_000));
      if (seconds < 1) return undefined;
      const { path, result } = await firstResponse(paths, seconds, until);
      const tookMs = clock() - began;
      const isQuick = tookMs < quickMs;
      // Our service answers all waiting requests when it shuts down.
      const isInVain = result.kind === 'failed' || (result.kind === 'held' && isQuick && isOurService);
      inVainFrom = isInVain ? Math.min(inVainFrom, clock()) : Number.POSITIVE_INFINITY;
      if (!isInVain) quickResponses = isQuick ? quickResponses + 1 : 0;
      switch (result.kind) {
        case 'free':
          supportsWait = true;
          return quickResponses > maxQuickResponses ? undefined : path;
        case 'held': {
          supportsWait = true;
          if (quickResponses > maxQuickResponses || !listensToAll) return undefined;
          if (isInVain) break;
          const left = formatSpan((waitEnds - clock()) / 1_000);
          const held = withHolder(blocked, path, result.holder);
          log.line(`${blockedText(held, client.serverNow(), true)}. Waiting, ${left} left.`);
          break;
        }
        case 'failed':
          // A connection that was cut during the wait shows support. A service that hangs is silent for longer.
          supportsWait ||= tookMs >= quickMs && tookMs < seconds * 1_000;
          if (!supportsWait) {
            failures += 1;
            listens = failures < maxFailures;
            return undefined;
          }
          break;
        case 'unsupported':
          listens = false;
          return undefined;
      }
      if (!isInVain) continue;
      if (clock() - inVainFrom >= maxVainMs) return path;
      const askedMs = result.kind === 'failed' ? (result.retryAfterMs ?? 0) : 0;
      const pauseMs = minReconnectMs + random() * (maxReconnectMs - minReconnectMs);
      await sleep(Math.min(Math.max(askedMs, pauseMs), until - clock()), signal);
    }
    return undefined;
  };
}

/** Updates the holder of one of the paths. */
function withHolder(
  { conflicts: [first, ...others], ...blocked }: Blocked,
  path: LockPath,
  holder: KnownLock,
): Blocked {
  const updated = (conflict: Conflict): Conflict => (conflict.path === path ? { ...conflict, holder } : conflict);
  return { ...blocked, conflicts: [updated(first), ...others.map(updated)] };
}
