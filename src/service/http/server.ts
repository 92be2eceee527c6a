import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ProblemName, problems } from '../../interface/problem.ts';
import type { App } from './operation.ts';
import { problemAnswer } from './problem-answer.ts';

/** A client that needs longer to send a request is holding a connection rather than asking for something. */
const headersTimeout = 10_000;
const requestTimeout = 30_000;

const newRequestId = (): string => `req_${randomUUID()}`;

function unreadable(error: NodeJS.ErrnoException): readonly [ProblemName, string] {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['request-timeout', 'The request did not arrive in time.'];
    case 'HPE_HEADER_OVERFLOW':
      return ['headers-too-large', 'The headers of the request are too large.'];
    default:
      return ['malformed-request', 'The request is not valid HTTP.'];
  }
}

/** For what the parser refuses there is no request yet, and so nobody but this to answer. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [name, detail] = unreadable(error);
  const { headers, body } = problemAnswer(name, detail, newRequestId());
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) });
  const head = lines.map(([field, value]) => `${field}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${problems[name].status} ${problems[name].title}\r\n${head}\r\n${body}`);
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

export async function startServer(app: App, host: string, port: number): Promise<ListeningServer> {
  const answer = getRequestListener(app.fetch, {
    // Only a request that cannot be turned into a URL gets here: the app answers all other errors itself.
    errorHandler: () => {
      const { status, headers, body } = problemAnswer(
        'malformed-request',
        'The address or the Host header of the request is not valid.',
        newRequestId(),
      );
      return new Response(body, { status, headers });
    },
    overrideGlobalObjects: false,
  });
  const server = createServer(
    { headersTimeout, requestTimeout, connectionsCheckingInterval: 5_000 },
    (incoming, outgoing) => {
      // A raw backslash would be read as a slash by a URL parser.
      incoming.url = (incoming.url ?? '/').replaceAll('\\', '%5C');
      void answer(incoming, outgoing);
    },
  );
  server.on('clientError', answerUnreadable);
  const address = await listen(server, host, port);
  return {
    port: address.port,
    async close(withinMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), withinMs);
      await closed;
      clearTimeout(cut);
    },
  };
}
