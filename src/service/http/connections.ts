import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';

export type OnRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** A connection with more waiting requests is not read until some of them are answered. */
const maxWaiting = 15;

/** Requests in one chunk are parsed in one go. No well-behaved client pipelines this many. */
const maxParsed = 128;

interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * A client may pipeline requests (RFC 9112 section 9.3.2). Each is started when the answer before it has been handed to the
 * operating system, so a client that does not read has one answer in memory, not thousands.
 */
export function oneAfterTheOther(begin: OnRequest): OnRequest {
  const connections = new WeakMap<Socket, Connection>();

  function next(socket: Socket, connection: Connection): void {
    // Nobody waits for the answers to the rest.
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
 * Node makes two errors for each request of a connection that closed before its answer, and reads the stack of each: hundreds
 * of connections with as many pipelined requests would stop the process for that long. Nobody sees those stacks.
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

/** How often to look for connections that the system has accepted and Node has not. Node takes one each time. */
const maxLooks = 100;

export interface CloseTimes {
  /** How long connections without a request stay open: a proxy may be sending one on them. */
  readonly idleMs: number;
  /** How long requests may take to end. */
  readonly requestsMs: number;
}

export type CloseServer = (times: CloseTimes) => Promise<void>;

/** Closes a server: it accepts no connection, answers the requests that arrive on open ones, and cuts the rest. */
export function createDrain(server: Server): CloseServer {
  const connections = new Set<Socket>();
  const beingAnswered = new Set<ServerResponse>();
  let accepted = 0;
  let isClosing = false;
  const track = (_incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (isClosing) outgoing.shouldKeepAlive = false;
    beingAnswered.add(outgoing);
    outgoing.once('close', () => beingAnswered.delete(outgoing));
  };
  server.on('request', track);
  server.on('checkExpectation', track);
  server.on('connection', (socket) => {
    accepted += 1;
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  /** The system resets the connections that it has accepted by the time that the server closes, and Node has not. */
  async function acceptAll(): Promise<void> {
    for (let looks = 0, before = -1; before !== accepted && looks < maxLooks; looks += 1) {
      before = accepted;
      await setImmediate();
    }
  }

  return async ({ idleMs, requestsMs }) => {
    await acceptAll();
    // The method of the HTTP server would close idle connections at once.
    const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
    isClosing = true;
    // Otherwise their connections would stay open for another request.
    for (const outgoing of beingAnswered) outgoing.shouldKeepAlive = false;
    const cuts = [
      setTimeout(() => {
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

/** Each takes memory, even when idle. */
const maxConnectionsEver = 20_000;

/** Open files that are not client connections: databases, git and its pipes, deliveries, Node itself. */
const forTheRest = 256;

/**
 * How many client connections to accept, given the limit on open files. Without it, clients that hold connections could
 * leave no files for git and the database, which everyone's requests need.
 */
export const connectionLimit = (openFiles: number): number =>
  Math.min(maxConnectionsEver, Math.max(Math.floor(openFiles / 4), openFiles - forTheRest));

/** The limit of this process. Node raises it to the system's maximum at start. */
export function openFilesLimit(): number {
  // Otherwise the report resolves host names. Node's types lack the setting.
  Object.assign(process.report, { excludeNetwork: true });
  // Node's types lack the report as well. Windows has no such limit, and so no such part.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
}
