import { setTimeout as wait } from 'node:timers/promises';
import { longestTimer } from './time-limit.ts';

/** Ends early, without an error, when the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && !signal.aborted; left -= longestTimer) {
    await wait(Math.min(left, longestTimer), undefined, { signal }).catch(() => undefined);
  }
}
