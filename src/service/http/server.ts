import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { type ProblemName, problems } from '../../interface/problem.ts';
import { createDrain } from './drain.ts';
import type { App } from './operation.ts';
import { problemAnswer } from './problem-answer.ts';
import { originForm } from './raw-target.ts';

/** A client that needs longer to send a request is holding a connection rather than asking for something. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkEveryMs: number;
}

const usualPatience: Patience = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 };

function unreadable(error: NodeJS.ErrnoException): readonly [ProblemName, string] {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['request-timeout', 'The request did not arrive in time.'];
    case 'HPE_HEADER_OVERFLOW':
      return ['headers-too-large', 'The headers of the request are too large.'];
    case 'HPE_INVALID_METHOD':
      return ['malformed-request', 'The request is not HTTP, or its method is not known.'];
    case 'HPE_INVALID_URL':
      return ['malformed-request', 'The address of the request has characters that have to be percent-encoded.'];
    default:
      return ['malformed-request', 'The request is not valid HTTP.'];
  }
}

/** For what does not become a request there is nobody but this to answer. */
function answerUnasked(socket: Duplex, name: ProblemName, detail: string): void {
  const { headers, body } = problemAnswer(name, detail, `req_${randomUUID()}`);
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) });
  const head = lines.map(([field, value]) => `${field}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${problems[name].status} ${problems[name].title}\r\n${head}\r\n${body}`);
}

function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answerUnasked(socket, ...unreadable(error));
}

export interface ListeningServer {
  readonly port: number;
  /** Answers what has arrived, takes nothing new, and cuts what has not ended by then. */
  close(withinMs: number): Promise<void>;
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

/** What the app is not to trip over, because it decides by itself what is right: see host.ts and raw-target.ts. */
function prepare(incoming: IncomingMessage): void {
  incoming.url = originForm(incoming.url ?? '/');
  incoming.headers.host = 'localhost';
}

export async function startServer(
  app: App,
  host: string,
  port: number,
  { headersMs, requestMs, checkEveryMs }: Patience = usualPatience,
): Promise<ListeningServer> {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkEveryMs,
    // Node's own refusal has no body.
    requireHostHeader: false,
  });
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    prepare(incoming);
    void answer(incoming, outgoing);
  };
  server.on('request', onRequest);
  // RFC 9110 section 10.1.1 lets a server ignore an expectation that it does not know; Node's refusal has no body.
  server.on('checkExpectation', onRequest);
  server.on('connect', (_incoming, socket) => {
    answerUnasked(socket, 'malformed-request', 'CONNECT asks for a proxy, and this is none.');
  });
  server.on('clientError', answerUnreadable);
  const close = createDrain(server);
  const { port: listeningPort } = await listen(server, host, port);
  return { port: listeningPort, close };
}
