import type { Context } from '../context.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isGone, type KnownProcess } from './worker.ts';

/** As it was saved by the step; undefined where it did not come to that. */
function savedProcess(state: string): KnownProcess | undefined {
  try {
    const value: unknown = JSON.parse(state);
    if (typeof value !== 'object' || value === null) return undefined;
    // An object that JSON made has nothing but string keys.
    const { pid, startedAt } = value as Readonly<Record<string, unknown>>;
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
    return { pid, startedAt: typeof startedAt === 'string' ? startedAt : undefined };
  } catch {
    return undefined;
  }
}

/** It waits for a renewal that is on its way, and gives that up sooner. */
const maxWaitMs = 5_000;
const lookEveryMs = 10;

/** Returns when nothing renews the locks of the step any more, so that none comes back after its release. */
export async function stopRenewal(
  { ledger, clock, sleep }: Pick<Context, 'clock' | 'sleep'> & { readonly ledger: Ledger },
  step: string,
  saved: string,
  signal: AbortSignal,
): Promise<void> {
  if (saved === '') return;
  try {
    ledger.append({ kind: 'stop-renewing', step, at: new Date().toISOString() });
  } catch {
    // Without a ledger, it ends by itself.
  }
  const renewer = savedProcess(saved);
  if (renewer === undefined) return;
  const until = clock() + maxWaitMs;
  while (!isGone(renewer) && clock() < until && !signal.aborted) await sleep(lookEveryMs, signal);
  // Where its start is not known, another process may have its id by now.
  if (renewer.startedAt === undefined || isGone(renewer)) return;
  try {
    process.kill(renewer.pid, 'SIGKILL');
  } catch {
    // It has ended in this moment. Whatever it is, the locks have to be released.
  }
}
