import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../../src/interface/resources.ts';
import type { Load, Loader } from './load.ts';
import { ask } from './request.ts';
import type { RunningService } from './service-process.ts';

const askEveryMs = 20;

/** Asks for a sync so often at the same time. */
export const askForSyncs = (
  load: Loader,
  { baseUrl, token }: RunningService,
  workspace: string,
  triggers: number,
): Promise<Load> =>
  load({
    targets: [{ baseUrl, workspace, token }],
    ask: 'for syncs',
    name: workspace,
    clients: triggers,
    end: { kind: 'requests', number: triggers },
  });

/** Waits until the sync has succeeded, and gives it. */
export async function endedSync(
  { baseUrl, token }: RunningService,
  location: string,
  signal: AbortSignal,
): Promise<Sync> {
  for (;;) {
    const { body } = await ask({ origin: new URL(baseUrl), token, path: location, statuses: [200], signal });
    // This is how the service answers (src/service/http/routes/syncs.ts).
    const sync = JSON.parse(body) as Sync;
    if (sync.status === 'succeeded') return sync;
    if (sync.status === 'failed') throw new Error(`A sync failed: ${sync.error}`);
    await sleep(askEveryMs, undefined, { signal });
  }
}
