import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type ProblemName, problems } from '../../interface/problem.ts';
import { toProblemResponse } from '../contract/response.ts';

/** No well-behaved client pipelines this many requests. */
const maxWaiting = 128;

/** When the server closes, at most this many connections are accepted from the backlog of the system, one per check. */
const maxAcceptChecks = 100;

/**
 * Clients may pipeline requests (RFC 9112 section 9.3.2). Each request starts when the previous response has left this
 * process, so that a client that does not read keeps one response in memory, not thousands. Returns the incomplete
 * responses of a connection, in order, and a function that stops accepting connections. It closes idle ones after
 * `idleMs`, because a proxy may be sending a request, and the others after `requestsMs`.
 */
export function serveConnections(server: Server, begin: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const connections = new Map<Socket, ServerResponse[]>();
  let accepted = 0;
  let isClosing = false;
  let closesIdle = false;

  function onRequest(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming;
    const responses = connections.get(socket) ?? [];
    if (isClosing) outgoing.shouldKeepAlive = false;
    outgoing.once('close', () => onAnswered(socket, responses));
    responses.push(outgoing);
    if (responses.length === 1) begin(incoming, outgoing);
    else if (responses.length > maxWaiting) socket.destroy();
  }

  function onAnswered(socket: Socket, responses: ServerResponse[]): void {
    responses.shift();
    // Nobody would read the response.
    if (socket.destroyed) return;
    const [next] = responses;
    if (next !== undefined) begin(next.req, next);
    // Headers that were already sent could not announce the close.
    else if (closesIdle) socket.end();
  }

  server.on('connection', (socket) => {
    accepted += 1;
    connections.set(socket, []);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', onRequest);
  // RFC 9110 section 10.1.1 allows ignoring an unknown expectation. The 417 that Node sends has no body.
  server.on('checkExpectation', onRequest);

  /** Lets Node accept waiting connections, which the system would otherwise reset when the server closes. */
  async function acceptAll(): Promise<void> {
    for (let looks = 0, before = -1; before !== accepted && looks < maxAcceptChecks; looks += 1) {
      before = accepted;
      await setImmediate();
    }
  }

  async function close({ idleMs, requestsMs }: Readonly<Record<'idleMs' | 'requestsMs', number>>): Promise<void> {
    await acceptAll();
    // close() of the HTTP server would close idle connections immediately.
    const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
    isClosing = true;
    // Closes their connections after these responses.
    for (const outgoing of [...connections.values()].flat()) outgoing.shouldKeepAlive = false;
    const cuts = [
      setTimeout(() => {
        closesIdle = true;
        server.closeIdleConnections();
        // Node treats a connection that has not sent anything yet as busy.
        for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
      }, idleMs),
      setTimeout(() => server.closeAllConnections(), requestsMs),
    ];
    await closed;
    for (const cut of cuts) clearTimeout(cut);
  }

  return { responsesOf: (socket: Socket): readonly ServerResponse[] => connections.get(socket) ?? [], close };
}

/** Connections use memory even when idle. */
const maxConnections = 20_000;

/** Open files reserved for everything but client connections: databases, git and its pipes, deliveries, Node itself. */
const reservedFiles = 256;

/**
 * Maximum number of client connections for a limit on open files. Otherwise, clients that keep connections open could
 * use up the files that git and the database need.
 */
export const connectionLimit = (openFiles: number): number =>
  Math.min(maxConnections, Math.max(Math.floor(openFiles / 4), openFiles - reservedFiles));

/** The limit on open files of this process. Node raises it to the system's maximum at startup. */
export function openFilesLimit(): number {
  // Keeps the report from resolving host names. The types of Node lack this setting.
  Object.assign(process.report, { excludeNetwork: true });
  // The report has no type either. `userLimits` is missing on Windows, which has no such limit.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
}

export interface Unreadable {
  readonly requestId: string;
  readonly status: number;
  /** Error code of Node or the HTTP parser. Contains no input. */
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

/** Responds to input that is not a valid request, and so never reaches the app. */
export function refuseUnreadable(
  server: Server,
  responsesOf: (socket: Socket) => readonly ServerResponse[],
  onUnreadable: (unreadable: Unreadable) => void,
): void {
  const refused = new WeakSet<Socket>();

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
    // Each further chunk of rejected input raises another error.
    if (refused.has(socket)) return;
    if (code === 'ECONNRESET' || code === 'EPIPE') {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const before = responsesOf(socket).at(-1);
    // The previous request is complete, and may have acquired a lock, so its response is sent first.
    if (before?.req.complete) before.once('close', () => refuse(socket, code));
    else refuse(socket, code);
  });
}

/**
 * Time for the client to read the error. Its input is discarded during that time: closing a connection with unread
 * bytes would reset it, and the client would never see the error.
 */
const lingerMs = 2_000;

function endWith(socket: Socket, text: string): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
