import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../interface/duration.ts';
import { createApi } from './api/api.ts';
import { startBackgroundWork } from './background-work.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { sendErrorPage, wantsPage } from './dashboard/frame/layout.ts';
import { type AppParts, createApp, type RefusalRenderer, sendProblem } from './http/app.ts';
import type { App } from './http/context.ts';
import { reportEvents, startServer } from './http/server.ts';
import { createLfs, type LfsParts } from './lfs/lfs.ts';
import { sendLfsError } from './lfs/responses.ts';
import { createMirror, type MirrorParts, sendGitError } from './mirror/mirror.ts';
import { createParts, type ServiceOptions } from './parts.ts';

export interface Service {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts an instance. All instances on a database share syncs and deliveries. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { host, metrics, log } = options;

  let { port } = options;
  let isDraining = false;
  const stopping = new AbortController();
  const parts = await createParts(options, {
    stopping: stopping.signal,
    isStopping: () => isDraining,
    publicUrl: () => options.publicUrl(port),
  });
  const { requestLimit, locks } = parts;
  const backgroundWork = startBackgroundWork(parts);
  try {
    const server = await startServer(createServiceApp(parts), host, port, {
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
        await backgroundWork.stop();
      },
    };
  } catch (error) {
    stopping.abort();
    await backgroundWork.stop();
    throw error;
  }
}

/** Everything that answers requests: the API, Git LFS, the mirrors and the dashboard. */
export const createServiceApp = (parts: AppParts & LfsParts & MirrorParts): App =>
  createApp(parts, [createApi(parts), createLfs(parts), createMirror(parts), createDashboard(parts)], sendRefusal);

/** Sends an error in the format that the client shows to people, even if no route was found. */
const sendRefusal: RefusalRenderer = (c, refusal) => {
  if (wantsPage(c)) return sendErrorPage(c, refusal);
  const [, part] = /^\/v1\/workspaces\/[^/]*\/(git|lfs)(?:\/|$)/.exec(c.req.path) ?? [];
  if (part === 'git') return sendGitError(c, refusal);
  return part === 'lfs' ? sendLfsError(c, refusal) : sendProblem(c, refusal);
};
