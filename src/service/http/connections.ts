import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type OnRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** A connection with more requests than these is not read further until some of them are answered. */
const maxWaiting = 15;

/** What was read in one piece is parsed in one piece: no client that means well has so many requests in it. */
const maxParsed = 128;

interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * A client may send its next requests before it has read an answer (RFC 9112, section 9.3.2). They are begun one after the
 * other, each when the answer before it is with the operating system: whoever does not read has one answer in the memory
 * of the service, and not as many as fit into a second.
 */
export function oneAfterTheOther(begin: OnRequest): OnRequest {
  const connections = new WeakMap<Socket, Connection>();

  function next(socket: Socket, connection: Connection): void {
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

/** Ends a server so that every request that has arrived is answered, and nobody else is waited for. */
export function createDrain(server: Server): (withinMs: number) => Promise<void> {
  const connections = new Set<Socket>();
  const beingAnswered = new Set<ServerResponse>();
  const track = (_incoming: IncomingMessage, outgoing: ServerResponse): void => {
    beingAnswered.add(outgoing);
    outgoing.once('close', () => beingAnswered.delete(outgoing));
  };
  server.on('request', track);
  server.on('checkExpectation', track);
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  return async (withinMs) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Otherwise their connections would stay open for a next request.
    for (const outgoing of beingAnswered) outgoing.shouldKeepAlive = false;
    server.closeIdleConnections();
    // Node takes a connection over which nothing has come yet for a busy one.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const cut = setTimeout(() => server.closeAllConnections(), withinMs);
    await closed;
    clearTimeout(cut);
  };
}

/** Each takes memory, also when nothing comes over it. */
const maxConnectionsEver = 20_000;

/** Open files that are no connections of clients: databases, git with its pipes, deliveries, what Node itself needs. */
const forTheRest = 256;

/**
 * How many connections are taken at once, by the limit of open files. Without this, clients that hold connections could
 * leave none for git and the database, which the requests of all the others need.
 */
export const maxConnections = (openFiles: number): number =>
  Math.min(maxConnectionsEver, Math.max(Math.floor(openFiles / 4), openFiles - forTheRest));

/** Of this process. Node raises it to what the system allows when it starts. */
export function openFilesLimit(): number {
  // Otherwise the report would look up names of addresses. Node's types do not know the setting.
  Object.assign(process.report, { excludeNetwork: true });
  // Nor what is in a report. Windows has no such limit, and so no such part.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
}
