import type { WorkspaceId } from '../../client/client.ts';
import { span } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Context } from '../context.ts';
import { heldText } from './messages.ts';

/** Proxies cut connections that are silent for a minute. */
const maxSeconds = 30;

/** A service that waited would not have answered sooner than this. */
const quickMs = 1_000;
const maxQuickAnswers = 3;

/**
 * Lets the service say when a path is free, for as long as it supports that (RFC 7240, `Prefer: wait`). A service that
 * does not is not asked again; one that has before may be restarting, and is.
 */
export function createListener(
  { client, clock, signal, log }: Pick<Context, 'client' | 'clock' | 'signal' | 'log'>,
  workspace: WorkspaceId,
) {
  let listens = true;
  let hasWaited = false;
  let quickAnswers = 0;

  function isTooQuick(began: number): boolean {
    quickAnswers = clock() - began < quickMs ? quickAnswers + 1 : 0;
    return quickAnswers > maxQuickAnswers;
  }

  /** `free` is the word of the service; after `nothing`, look again after a while. */
  return async (path: LockPath, until: number, waitEnds: number): Promise<'free' | 'nothing'> => {
    while (listens && !signal.aborted) {
      const began = clock();
      const seconds = Math.min(maxSeconds, Math.floor((until - began) / 1_000));
      if (seconds < 1) return 'nothing';
      const result = await client.waitForRelease({ workspace, path, seconds }, { deadline: until, signal });
      switch (result.kind) {
        case 'free':
          hasWaited = true;
          return isTooQuick(began) ? 'nothing' : 'free';
        case 'held': {
          hasWaited = true;
          if (isTooQuick(began)) return 'nothing';
          const left = span((waitEnds - clock()) / 1_000);
          log.line(`${heldText(path, result.holder, client.serverNow(), true)}. Waiting, ${left} left.`);
          break;
        }
        case 'failed':
          listens = hasWaited;
          return 'nothing';
        case 'unsupported':
          listens = false;
          return 'nothing';
      }
    }
    return 'nothing';
  };
}
