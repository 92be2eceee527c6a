import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ProblemName, problems } from '../../interface/problem.ts';
import { problemAnswer } from './problem-answer.ts';

function whatIsWrong(error: NodeJS.ErrnoException): readonly [ProblemName, string] {
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

function answer(socket: Duplex, name: ProblemName, detail: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { headers, body } = problemAnswer(name, detail, `req_${randomUUID()}`);
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) });
  const head = lines.map(([field, value]) => `${field}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${problems[name].status} ${problems[name].title}\r\n${head}\r\n${body}`);
}

/** For what does not become a request there is nobody but this to answer. */
export function answerUnreadable(server: Server): void {
  const lastRequest = new WeakMap<Duplex, readonly [IncomingMessage, ServerResponse]>();
  const remember = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    lastRequest.set(incoming.socket, [incoming, outgoing]);
  };
  server.on('request', remember);
  server.on('checkExpectation', remember);

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const refuse = (): void => answer(socket, ...whatIsWrong(error));
    const [incoming, outgoing] = lastRequest.get(socket) ?? [];
    // The request before is whole, and has a right to its answer first: it may have been granted a lock.
    if (incoming?.complete && !outgoing?.writableFinished) outgoing?.once('close', refuse);
    else refuse();
  });
  server.on('connect', (_incoming, socket) => {
    answer(socket, 'malformed-request', 'CONNECT asks for a proxy, and this is none.');
  });
}
