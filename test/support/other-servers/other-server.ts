import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { listenHere } from '../listen.ts';

export interface SeenRequest {
  readonly method: string;
  /** The request target as it was sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

/** Responds to a request in any way, or leaves it waiting. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** Decides whether a request gets a response other than the usual one. */
export type Instead<More extends readonly unknown[] = []> = (
  request: SeenRequest,
  ...more: More
) => Answer | undefined | Promise<Answer | undefined>;

export type OtherServer = Awaited<ReturnType<typeof openOtherServer>>;

export interface OtherServerOptions {
  readonly host?: string;
  /** Makes the server use https with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A small real server that behaves as the test wants. The caller must close it. */
export async function openOtherServer(answer: Answer, { host = '127.0.0.1', tls }: OtherServerOptions = {}) {
  /** All requests, in the order of their arrival. */
  const requests: SeenRequest[] = [];
  const listener: RequestListener = async (incoming, response) => {
    response.on('error', () => undefined);
    const { method = '', url = '', headers } = incoming;
    const bytes = await buffer(incoming).catch(() => undefined);
    // The client has disconnected in the middle of its request.
    if (bytes === undefined) return;
    const request = { method, url, headers, bytes, body: bytes.toString() };
    requests.push(request);
    answer(response, request);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const connections = { opened: 0, mostAtOnce: 0 };
  const listening = await listenHere(server, { host });
  server.on('connection', () => {
    connections.opened += 1;
    connections.mostAtOnce = Math.max(connections.mostAtOnce, listening.sockets.size);
  });
  const origin = `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
  return { ...listening, origin, baseUrl: `${origin}/v1`, requests, connections };
}
