import pino from 'pino';
import type { App } from '../../src/service/http/context.ts';
import { reportEvents, type ServerOptions, startServer } from '../../src/service/http/server.ts';
import { createMetrics } from '../../src/service/runtime/metrics.ts';

const silent = reportEvents(pino({ level: 'silent' }), createMetrics());

/** A server with only this app, which begins every request at once unless told otherwise. */
export const startAppServer = (app: App, options: Partial<ServerOptions> = {}) =>
  startServer(app, '127.0.0.1', 0, {
    requestLimit: { wait: async (_incoming, _outgoing, begin) => begin() },
    events: silent,
    ...options,
  });
