import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type ProblemName, problems } from '../../interface/problem.ts';
import { toProblemResponse } from '../contract/problem.ts';

type OnRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** A connection with more waiting requests is not read until some of them have been answered. */
const maxWaiting = 15;

/** All requests in a chunk are parsed at once. No well-behaved client pipelines this many. */
const maxParsed = 128;

interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * A client may pipeline requests (RFC 9112 section 9.3.2). Each one starts when the previous response has been handed
 * to the operating system, so that a client that does not read keeps one response in memory, not thousands.
 */
export function serialize(begin: OnRequest): OnRequest {
  const connections = new WeakMap<Socket, Connection>();

  function next(socket: Socket, connection: Connection): void {
    // Nobody reads the responses to the remaining requests.
    if (socket.destroyed) connection.waiting.length = 0;
    const start = connection.waiting.shift();
    if (start === undefined) connection.isBusy = false;
    else start();
    if (connection.waiting.length <= maxWaiting && socket.isPaused()) socket.resume();
  }

  return (incoming, outgoing) => {
    const { socket } = incoming;
    const connection = connections.get(socket) ?? { isBusy: false, waiting: [] };
    connections.set(socket, connection);
    const start = (): void => {
      outgoing.once('close', () => next(socket, connection));
      begin(incoming, outgoing);
    };
    if (!connection.isBusy) {
      connection.isBusy = true;
      start();
      return;
    }
    connection.waiting.push(start);
    if (connection.waiting.length > maxParsed) {
      connection.waiting.length = 0;
      socket.destroy();
    } else if (connection.waiting.length > maxWaiting) socket.pause();
  };
}

/** Maximum number of checks for connections that only the system has accepted. Node accepts one per check. */
const maxAcceptChecks = 100;

interface CloseTimes {
  /** Time for which idle connections stay open: a proxy may be sending a request on them. */
  readonly idleMs: number;
  readonly requestsMs: number;
}

/** Returns a function that stops accepting connections, and closes those that are open within the given times. */
export function createDrain(server: Server) {
  const connections = new Set<Socket>();
  const beingAnswered = new Set<ServerResponse>();
  let accepted = 0;
  let isClosing = false;
  let closesIdle = false;
  const track = ({ socket }: IncomingMessage, outgoing: ServerResponse): void => {
    if (isClosing) outgoing.shouldKeepAlive = false;
    beingAnswered.add(outgoing);
    outgoing.once('close', () => {
      beingAnswered.delete(outgoing);
      // If its head was sent before, its client was not told to close the connection.
      if (closesIdle && [...beingAnswered].every(({ req }) => req.socket !== socket)) socket.end();
    });
  };
  server.on('request', track);
  server.on('checkExpectation', track);
  server.on('connection', (socket) => {
    accepted += 1;
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  /** Otherwise the system resets connections that it has accepted, but Node has not, when the server closes. */
  async function acceptAll(): Promise<void> {
    for (let looks = 0, before = -1; before !== accepted && looks < maxAcceptChecks; looks += 1) {
      before = accepted;
      await setImmediate();
    }
  }

  return async ({ idleMs, requestsMs }: CloseTimes): Promise<void> => {
    await acceptAll();
    // close() of the HTTP server would close idle connections immediately.
    const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
    isClosing = true;
    // Otherwise their connections would stay open for another request.
    for (const outgoing of beingAnswered) outgoing.shouldKeepAlive = false;
    const cuts = [
      setTimeout(() => {
        closesIdle = true;
        server.closeIdleConnections();
        // Node counts a connection that has not sent anything yet as busy.
        for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      }, idleMs),
      setTimeout(() => server.closeAllConnections(), requestsMs),
    ];
    await closed;
    for (const cut of cuts) clearTimeout(cut);
  };
}

/** Connections use memory even when idle. */
const maxConnections = 20_000;

/** Open files reserved for everything but client connections: databases, git and its pipes, deliveries, Node itself. */
const reservedFiles = 256;

/**
 * Maximum number of client connections for a limit on open files. Otherwise clients that keep connections open could
 * leave no files for git and the database, which all requests need.
 */
export const connectionLimit = (openFiles: number): number =>
  Math.min(maxConnections, Math.max(Math.floor(openFiles / 4), openFiles - reservedFiles));

/** Limit on open files of this process. Node raises it to the system's maximum at startup. */
export function openFilesLimit(): number {
  // Otherwise the report resolves host names. The setting is missing in Node's types.
  Object.assign(process.report, { excludeNetwork: true });
  // The report has no type either. On Windows, which has no such limit, `userLimits` is missing.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
}

export interface Unreadable {
  readonly requestId: string;
  readonly status: number;
  /** Error code of Node or the HTTP parser; never a part of the input. */
  readonly code: string;
  readonly address: string | undefined;
}

const malformed = (detail: string): readonly [ProblemName, string] => ['malformed-request', detail];

const refusals: Readonly<Record<string, readonly [ProblemName, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'The request headers are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['body-too-large', 'The chunk extensions of the body are too large.'],
  HPE_INVALID_METHOD: malformed('The request is not HTTP, or its method is unknown.'),
  HPE_INVALID_URL: malformed('The request target has characters that must be percent-encoded.'),
};

/** Responds to input that cannot be parsed as a request, and so never reaches the app. */
export function refuseUnreadable(server: Server, onUnreadable: (unreadable: Unreadable) => void): void {
  const lastRequest = new WeakMap<Socket, readonly [IncomingMessage, ServerResponse]>();
  const refused = new WeakSet<Socket>();
  const remember = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    lastRequest.set(incoming.socket, [incoming, outgoing]);
  };
  server.on('request', remember);
  server.on('checkExpectation', remember);

  function refuse(socket: Socket, code: string): void {
    const [name, detail] = refusals[code] ?? malformed('The request is not valid HTTP.');
    const requestId = `req_${randomUUID()}`;
    onUnreadable({ requestId, status: problems[name].status, code, address: socket.remoteAddress });
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { headers, body } = toProblemResponse(name, detail, requestId);
    const lines = Object.entries({ ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) });
    const head = lines.map(([field, value]) => `${field}: ${value}\r\n`).join('');
    endWith(socket, `HTTP/1.1 ${problems[name].status} ${problems[name].title}\r\n${head}\r\n${body}`);
  }

  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    // All streams of a TCP server are sockets.
    const socket = stream as Socket;
    const { code = '' } = error;
    // Each further chunk of rejected input causes another error.
    if (refused.has(socket)) return;
    if (code === 'ECONNRESET' || code === 'EPIPE') {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const [incoming, outgoing] = lastRequest.get(socket) ?? [];
    // The previous request is complete and gets its response first: it may have acquired a lock.
    if (incoming?.complete && !outgoing?.writableFinished) outgoing?.once('close', () => refuse(socket, code));
    else refuse(socket, code);
  });
}

/**
 * Time that a client has to read the error. Meanwhile, its input is discarded: closing a connection with unread bytes
 * resets it, and the client would never see the error.
 */
const lingerMs = 2_000;

function endWith(socket: Socket, text: string): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
