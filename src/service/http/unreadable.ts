import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ProblemName, problems } from '../../interface/problem.ts';
import { toProblemResponse } from '../contract/problem.ts';

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
  CONNECT: malformed('CONNECT is not supported: this server is not a proxy.'),
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
  server.on('connect', (_incoming, stream) => {
    // As above. The server has detached the socket, and no longer handles its errors, input or timeouts.
    const socket = stream as Socket;
    socket.on('error', () => socket.destroy());
    socket.resume();
    refuse(socket, 'CONNECT');
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
