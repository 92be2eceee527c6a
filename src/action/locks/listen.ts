import type { KnownLock, WorkspaceId } from '../../client/client.ts';
import { formatSpan } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Context } from '../step/context.ts';
import { type Blocked, blockedText } from './messages.ts';
import type { Conflict } from './session.ts';

/** Proxies cut connections that are silent for a minute. */
const maxSeconds = 30;

/** A service that waited would not have answered sooner than this. */
const quickMs = 1_000;
const maxQuickResponses = 3;

/** Each takes a connection, and a place among those that the service lets wait. */
const maxPaths = 8;

/** Other paths may become free in the meantime. */
const maxSecondsForSome = 5;

/** A service that is not known to wait may be one that does not answer such a request. */
const maxFailures = 3;

/** So a service that has come back is asked within 300 ms. */
const minReconnectMs = 100;
const maxReconnectMs = 200;

/** A gateway may refuse only requests that wait. After this time without a response, the step asks for the lock itself. */
const maxVainMs = 30_000;

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
  let quickResponses = 0;
  let failures = 0;

  /** The first answer ends the wait for the others: all of them have the same time. */
  async function firstResponse(paths: readonly LockPath[], seconds: number, deadline: number) {
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
      // A service of ours that stops answers all who wait.
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
          // Cut off while the service held its answer back; one that hangs is silent for longer.
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

/** The same with what the service says now of one of the paths. */
function withHolder(
  { conflicts: [first, ...others], ...blocked }: Blocked,
  path: LockPath,
  holder: KnownLock,
): Blocked {
  const updated = (conflict: Conflict): Conflict => (conflict.path === path ? { ...conflict, holder } : conflict);
  return { ...blocked, conflicts: [updated(first), ...others.map(updated)] };
}
