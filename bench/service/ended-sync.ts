import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../../src/interface/resources.ts';
import { get } from './get.ts';
import type { RunningService } from './services.ts';

const askEveryMs = 20;

/** Waits until the sync has succeeded, and gives it. */
export async function endedSync(service: RunningService, location: string, signal: AbortSignal): Promise<Sync> {
  for (;;) {
    // This is how the service answers (src/service/http/routes/syncs.ts).
    const sync = (await get(service, location, signal)) as Sync;
    if (sync.status === 'succeeded') return sync;
    if (sync.status === 'failed') throw new Error(`A sync failed: ${sync.error}`);
    await sleep(askEveryMs, undefined, { signal });
  }
}
