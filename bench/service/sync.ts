import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../../src/interface/resources.ts';
import { ask } from './request.ts';
import type { RunningService } from './service-process.ts';

const askEveryMs = 20;

/** Asks for a sync so often at the same time; gives the different ones that it was given, and how long each answer took. */
export async function askForSyncs({ baseUrl, token }: RunningService, workspace: string, triggers: number) {
  const agent = new Agent({ maxSockets: triggers });
  const path = `/v1/workspaces/${workspace}/sync`;
  const locations = new Set<string>();
  const latenciesMs: number[] = [];
  async function trigger(): Promise<void> {
    const asked = { origin: new URL(baseUrl), token, agent, method: 'POST', path, body: '{"branch":"main"}' } as const;
    const askedAt = performance.now();
    const { headers } = await ask({ ...asked, statuses: [202] });
    latenciesMs.push(performance.now() - askedAt);
    locations.add(headers.location ?? '');
  }
  await Promise.all(Array.from({ length: triggers }, trigger));
  return { locations: [...locations], latenciesMs };
}

/** Waits until the sync has succeeded, and gives it. */
export async function endedSync(
  { baseUrl, token }: RunningService,
  location: string,
  signal: AbortSignal,
): Promise<Sync> {
  for (;;) {
    const { body } = await ask({ origin: new URL(baseUrl), token, path: location, statuses: [200], signal });
    // This is how the service answers (src/service/api/syncs.ts).
    const sync = JSON.parse(body) as Sync;
    if (sync.status === 'succeeded') return sync;
    if (sync.status === 'failed') throw new Error(`A sync failed: ${sync.error}`);
    await sleep(askEveryMs, undefined, { signal });
  }
}
