import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../interface/duration.ts';
import { createRateLimiter } from './access/access.ts';
import { createApi } from './api/api.ts';
import type { ApiParts } from './api/operation.ts';
import { startBackgroundWork } from './background-work.ts';
import { asPageToBrowsers, createDashboard } from './dashboard/dashboard.ts';
import { createApp } from './http/app.ts';
import type { App } from './http/context.ts';
import { reportEvents, startServer } from './http/server.ts';
import { createCompare } from './latest/compare.ts';
import { createLfs } from './lfs/lfs.ts';
import { sendRefusal } from './lfs/responses.ts';
import { createUrlSigner, urlKey } from './lfs/signed-url.ts';
import { foldHeldPaths } from './locks/find.ts';
import { asTextToGit, createMirror } from './mirror/mirror.ts';
import { defaultMirrorLimits } from './mirror/serve.ts';
import { createParts, type ServiceOptions, type ServiceParts } from './parts.ts';
import { openDatabaseClock } from './storage/timestamp.ts';
import { createPrepareSync } from './syncs/trigger.ts';
import { createExchangeToken } from './trust/exchange.ts';
import { createFindInMirror } from './workspaces/find-in-mirror.ts';

export interface Service {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts an instance, which shares syncs and deliveries with all other instances on its database. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { storage, host, metrics, log, freeDisk } = options;
  if (options.windowsPaths) await foldHeldPaths(storage);

  let { port } = options;
  let isDraining = false;
  const stopping = new AbortController();
  const parts = createParts(options, await openDatabaseClock(storage), stopping.signal);
  const app = await createServiceApp(parts, {
    publicUrl: () => options.publicUrl?.(port),
    isStopping: () => isDraining,
  });
  const { requestLimit, locks } = parts;
  const backgroundWork = startBackgroundWork(parts);
  const stopWork = async () => {
    stopping.abort();
    await Promise.all([backgroundWork, freeDisk].map((work) => work.stop()));
  };
  try {
    const server = await startServer(app, host, port, {
      requestLimit,
      events: reportEvents(log, metrics),
    });
    port = server.port;
    return {
      port,
      async stop() {
        isDraining = true;
        const delayMs = milliseconds(options.drainDelay);
        await sleep(delayMs);
        stopping.abort();
        locks.endWaits();
        await server.close({ idleMs: delayMs, requestsMs: milliseconds(options.drainTimeout) });
        await stopWork();
      },
    };
  } catch (error) {
    await stopWork();
    throw error;
  }
}

/** Everything that answers requests: the API, Git LFS, the mirrors and the dashboard. */
async function createServiceApp(
  shared: ServiceParts,
  instance: Pick<ApiParts, 'publicUrl' | 'isStopping'>,
): Promise<App> {
  const { storage } = shared;
  const parts = {
    ...shared,
    ...instance,
    exchangeToken: createExchangeToken({ ...shared, ...instance }),
    rateLimiter: createRateLimiter(shared.rateLimit),
    noteUse: shared.lastUse.note,
    compare: createCompare(shared),
    prepareSync: createPrepareSync(shared),
    findInMirror: createFindInMirror(shared),
    mirrorLimits: { ...defaultMirrorLimits, ...shared.mirrorLimits },
    urlSigner: createUrlSigner(await urlKey(storage), shared.databaseClock.now),
  };
  return createApp(
    parts,
    [createApi(parts), createLfs(parts), createMirror(parts), createDashboard(parts)],
    asPageToBrowsers(asTextToGit(sendRefusal)),
  );
}
