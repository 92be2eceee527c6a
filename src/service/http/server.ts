import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import {
  type CloseServer,
  closeWithoutStacks,
  connectionLimit,
  createDrain,
  oneAfterTheOther,
  openFilesLimit,
} from './connections.ts';
import type { App } from './context.ts';
import type { RequestScheduler } from './request-scheduler.ts';
import { originForm } from './request-target.ts';
import { answerUnreadable, type Unreadable } from './unreadable.ts';

/** How long a client may take. One that needs longer is holding a connection rather than sending a request. */
export interface ServerTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkEveryMs: number;
  /** Without traffic in either direction, as from a client that reads no response. A request that waits needs longer. */
  readonly silenceMs: number;
  /** Between two requests of a connection. */
  readonly keepAliveMs: number;
}

const defaultTimeouts: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 5_000,
  silenceMs: 60_000,
  // Longer than the minute for which proxies keep theirs: a client that opens new ones has to wait for those of others.
  keepAliveMs: 65_000,
};

/** Callbacks for events outside of requests and responses. */
export interface ServerEvents {
  onUnreadable(unreadable: Unreadable): void;
  /** A new connection was closed because there were too many. */
  onDropped(): void;
  /** A connection could not be accepted. */
  onError(error: Error): void;
}

const nobody = (): void => undefined;
const unheard: ServerEvents = { onUnreadable: nobody, onDropped: nobody, onError: nobody };

/** Liveness probes are never queued. */
const withoutTurn = '/healthz';

export interface ServerOptions {
  readonly turns?: Pick<RequestScheduler, 'wait' | 'connected'>;
  readonly timeouts?: Partial<ServerTimeouts>;
  readonly events?: ServerEvents;
  readonly openFiles?: number;
}

export interface ListeningServer {
  readonly port: number;
  readonly close: CloseServer;
}

export async function startServer(
  app: App,
  host: string,
  port: number,
  { turns, timeouts, events = unheard, openFiles = openFilesLimit() }: ServerOptions = {},
): Promise<ListeningServer> {
  const { headersMs, requestMs, checkEveryMs, silenceMs, keepAliveMs } = { ...defaultTimeouts, ...timeouts };
  const response = getRequestListener(app.fetch, {
    // Node's own Response turns every body into a stream, which costs a tenth of a request. The adapter's does not.
    overrideGlobalObjects: true,
    // It would cut off a client that is still sending half a second after its answer; Node reads on until requestTimeout.
    autoCleanupIncoming: false,
  });
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
    // Node's own refusal has no body.
    requireHostHeader: false,
  });
  server.timeout = silenceMs;
  server.maxConnections = connectionLimit(openFiles);
  // Their size is limited already. Node would drop all but the first 2,000, and an If-Match could be among the rest.
  server.maxHeadersCount = 0;
  const onRequest = oneAfterTheOther((incoming, outgoing) => {
    prepare(incoming);
    if (turns === undefined || incoming.url === withoutTurn) {
      void response(incoming, outgoing);
      return;
    }
    turns.wait(incoming, () => void response(incoming, outgoing));
  });
  server.on('request', onRequest);
  // RFC 9110 section 10.1.1 lets a server ignore an unknown expectation; Node's refusal has no body.
  server.on('checkExpectation', onRequest);
  if (turns !== undefined) server.on('connection', turns.connected);
  closeWithoutStacks(server);
  answerUnreadable(server, events.onUnreadable);
  server.on('drop', events.onDropped);
  const close = createDrain(server);
  const { port: listeningPort } = await listen(server, host, port);
  server.on('error', events.onError);
  return { port: listeningPort, close };
}

async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // A TCP server's address has this form once it listens.
  return server.address() as AddressInfo;
}

/** The app judges both by itself (see request-target.ts); the adapter must not refuse them first. */
function prepare(incoming: IncomingMessage): void {
  incoming.url = originForm(incoming.url ?? '/');
  incoming.headers.host = 'localhost';
}
