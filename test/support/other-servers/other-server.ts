import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly method: string;
  /** The request target as it was sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Responds to a request in any way, or leaves it waiting. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

export interface OtherServer {
  readonly port: number;
  readonly origin: string;
  /** The base URL, ending in `/v1`. */
  readonly baseUrl: string;
  /** All requests, in the order of their arrival. */
  readonly requests: readonly SeenRequest[];
  /** The number of opened connections, and the maximum number that was open at once. */
  readonly connections: { readonly opened: number; readonly mostAtOnce: number };
}

export interface OtherServerOptions {
  readonly host?: string;
  /** Makes the server use https with this certificate. */
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

/** A small real server that behaves as the test wants; it is closed when the test has finished. */
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
