import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import { throttle } from '../runtime/limit-rate.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { peerAddress } from './client-address.ts';
import { connectionLimit, openFilesLimit, refuseUnreadable, serveConnections, type Unreadable } from './connections.ts';
import type { App } from './context.ts';
import type { RequestLimit } from './request-limit.ts';
import { originForm } from './request-target.ts';

/** Time limits for clients. A slower client only occupies a connection. */
const defaultTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 5_000,
  /** Without traffic in either direction, such as a client that does not read. Longer than requests wait: 30 s. */
  silenceMs: 60_000,
  /**
   * Between two requests on a connection: longer than the minute that proxies use. A client that has to reconnect
   * queues after the new connections of others.
   */
  keepAliveMs: 65_000,
};

/** Liveness probes never wait. */
const unlimitedPath = '/healthz';

export interface ServerOptions {
  readonly requestLimit: Pick<RequestLimit, 'wait'>;
  readonly timeouts?: Partial<typeof defaultTimeouts>;
  readonly events: ReturnType<typeof reportEvents>;
  readonly maxConnections?: number;
}

export async function startServer(
  app: App,
  host: string,
  port: number,
  { requestLimit, timeouts, events, maxConnections = connectionLimit(openFilesLimit()) }: ServerOptions,
) {
  const { headersMs, requestMs, checkEveryMs, silenceMs, keepAliveMs } = { ...defaultTimeouts, ...timeouts };
  const response = getRequestListener(app.fetch, {
    // Node's own Response turns every body into a stream, which would take a tenth of the time of a request.
    overrideGlobalObjects: true,
    // Its cleanup cuts off clients that still send 500 ms after the response. Node itself reads until requestTimeout.
    autoCleanupIncoming: false,
  });
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
    // Node's own 400 response has no body.
    requireHostHeader: false,
  });
  server.timeout = silenceMs;
  server.maxConnections = maxConnections;
  // The size of the headers is limited anyway. Node would drop all after the first 2,000, possibly including If-Match.
  server.maxHeadersCount = 0;
  const { responsesOf, close } = serveConnections(server, (incoming, outgoing) => {
    // The app checks the URL and the Host itself (see request-target.ts), so the adapter must not reject them first.
    incoming.url = originForm(incoming.url ?? '/');
    incoming.headers.host = 'localhost';
    const begin = (): void => void response(incoming, outgoing);
    if (incoming.url === unlimitedPath) begin();
    else void requestLimit.wait(incoming, outgoing, begin);
  });
  refuseUnreadable(server, responsesOf, events.onUnreadable);
  server.on('drop', events.onDropped);
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', events.onError);
  // The address of a listening TCP server has this type.
  return { port: (server.address() as AddressInfo).port, close };
}

/** Anyone who can reach the port can cause these events, so all are counted, but only a few are logged. */
const unreadableLimit = { max: 100, everyMs: 10_000 };
const eventLimit = { max: 1, everyMs: 10_000 };

/** Logs and counts events outside of requests and responses. */
export function reportEvents(log: Logger, metrics: Metrics, clock?: () => number) {
  const reportUnreadable = throttle(unreadableLimit, clock);
  const reportDropped = throttle(eventLimit, clock);
  const reportError = throttle(eventLimit, clock);
  return {
    onUnreadable({ requestId, status, code, address }: Unreadable): void {
      metrics.unreadable.inc({ status });
      const about = { request_id: requestId, status, code, origin_address: address && peerAddress(address) };
      reportUnreadable((after) => log.info({ ...about, ...after }, 'unreadable request'));
    },
    onDropped(): void {
      metrics.droppedConnections.inc();
      reportDropped((after) => log.warn(after, 'too many connections: closed a new one'));
    },
    onError(error: Error): void {
      reportError((after) => log.error({ err: error, ...after }, 'could not accept a connection'));
    },
  };
}
