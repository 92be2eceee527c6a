import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';

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

/**
 * Node creates two errors for each unanswered request of a closed connection, and captures the stack of each. Hundreds
 * of connections with as many pipelined requests would block the process meanwhile. These stacks are never used.
 */
export function closeWithoutStacks(server: Server): void {
  server.on('connection', (socket) => {
    const { stackTraceLimit } = Error;
    socket.prependListener('close', () => {
      Error.stackTraceLimit = 0;
    });
    socket.on('close', () => {
      Error.stackTraceLimit = stackTraceLimit;
    });
  });
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
