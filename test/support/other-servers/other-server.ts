import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly method: string;
  /** The target, as it was sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request in whatever way; one that never does leaves it waiting. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

export interface OtherServer {
  readonly port: number;
  readonly origin: string;
  /** `/v1` on it. */
  readonly baseUrl: string;
  /** Every request, in the order in which they arrived. */
  readonly requests: readonly SeenRequest[];
  /** How many connections were opened, and how many were open at once at the most. */
  readonly connections: { readonly opened: number; readonly mostAtOnce: number };
}

export interface OtherServerOptions {
  readonly host?: string;
  /** With a certificate, it speaks https. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

function countConnections() {
  const open = new Set<Socket>();
  const counted = { opened: 0, mostAtOnce: 0 };
  return {
    counted,
    add(socket: Socket): void {
      open.add(socket);
      counted.opened += 1;
      counted.mostAtOnce = Math.max(counted.mostAtOnce, open.size);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => undefined);
    },
  };
}

/** A small real server that behaves as the test wants; it is closed when the test is finished. */
export async function startOtherServer(
  answer: Answer,
  { host = '127.0.0.1', tls }: OtherServerOptions = {},
): Promise<OtherServer> {
  const requests: SeenRequest[] = [];
  const listener: RequestListener = async (incoming, response) => {
    response.on('error', () => undefined);
    const { method = '', url = '', headers } = incoming;
    const request = { method, url, headers, body: await text(incoming) };
    requests.push(request);
    answer(response, request);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const { counted, add } = countConnections();
  server.on('connection', add);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const origin = `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { port, origin, baseUrl: `${origin}/v1`, requests, connections: counted };
}
