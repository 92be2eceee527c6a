import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../../src/interface/resources.ts';
import type { RunningService } from './services.ts';

const askEveryMs = 20;

/** Waits until the sync has succeeded, and gives it. */
export async function endedSync(
  { baseUrl, token }: RunningService,
  location: string,
  signal: AbortSignal,
): Promise<Sync> {
  for (;;) {
    const answer = await fetch(new URL(location, baseUrl), { headers: { authorization: `Bearer ${token}` }, signal });
    // The service is ours, and its answers have this form.
    const sync = (await answer.json()) as Sync;
    if (sync.status === 'succeeded') return sync;
    if (sync.status === 'failed') throw new Error(`A sync failed: ${sync.error}`);
    await sleep(askEveryMs, undefined, { signal });
  }
}
