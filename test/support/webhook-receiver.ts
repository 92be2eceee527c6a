import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The behavior of a receiver after it has read a request. */
export type Behaviour =
  | {
      readonly does: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Never responds. */
  | { readonly does: 'hang' }
  /** Resets the connection. */
  | { readonly does: 'reset' }
  /** Sends this text unchanged on the connection, and ends it. */
  | { readonly does: 'say'; readonly text: string }
  /** Responds 200, one byte at a time, and never reaches the end of the head or of the body. */
  | { readonly does: 'drip'; readonly part: 'head' | 'body' }
  /** Responds 200 with an endless body, as fast as it is read. */
  | { readonly does: 'flood' };

export interface Delivery {
  readonly method: string;
  /** The path and query as they were sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly port: number;
  /** The URL of the receiver, with the given path. */
  readonly url: (path?: string) => string;
  /** All deliveries that have arrived. */
  readonly deliveries: readonly Delivery[];
  /** The number of connections that were opened to it. */
  readonly connections: () => number;
  /** Sets one behavior for each further request in turn; the last one also applies to all later requests. */
  readonly behave: (...behaviours: readonly [Behaviour, ...Behaviour[]]) => void;
  /** Sets the behavior for every request to the path; the behaviors above are for all others. */
  readonly behaveAt: (path: string, behaviour: Behaviour) => void;
  /** The first delivery that no earlier call has returned, as soon as it arrives. */
  readonly nextDelivery: () => Promise<Delivery>;
  /** Resolves when every opened connection is closed. */
  readonly allDisconnected: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const dripEveryMs = 10;

interface Options {
  readonly host?: '127.0.0.1' | '::1';
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A receiver of webhooks at a loopback address. It responds 204 until it is given another behavior. */
export async function startWebhookReceiver({ host = '127.0.0.1', tls }: Options = {}): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = [];
  const awaited: ((delivery: Delivery) => void)[] = [];
  let handedOut = 0;
  let behaviours: Behaviour[] = [{ does: 'answer', status: 204 }];
  const byPath = new Map<string, Behaviour>();

  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await buffer(request)).toString();
    const { method = '', url: path = '', headers } = request;
    const delivery: Delivery = { method, path, headers, body };
    deliveries.push(delivery);
    const waiting = awaited.shift();
    if (waiting !== undefined) {
      handedOut += 1;
      waiting(delivery);
    }
    const behaviour = byPath.get(path) ?? (behaviours.length > 1 ? behaviours.shift() : behaviours[0]);
    if (behaviour !== undefined) act(behaviour, response);
  };
  // Some tests have a sender that disconnects in the middle of its request.
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void listener(request, response).catch(() => response.destroy());
  const server = tls === undefined ? http.createServer(onRequest) : https.createServer(tls, onRequest);
  server.on('tlsClientError', () => {});

  const open = new Set<Socket>();
  let connections = 0;
  let whenDisconnected: (() => void)[] = [];
  server.on('connection', (socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      if (open.size > 0) return;
      for (const done of whenDisconnected) done();
      whenDisconnected = [];
    });
  });

  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  // A server that listens on a port has an address of this form (node:net, server.address()).
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: (path = '/hook') =>
      `${tls === undefined ? 'http' : 'https'}://${host === '::1' ? '[::1]' : host}:${port}${path}`,
    deliveries,
    connections: () => connections,
    behave(...next) {
      behaviours = [...next];
    },
    behaveAt(path, behaviour) {
      byPath.set(path, behaviour);
    },
    nextDelivery() {
      const delivery = deliveries[handedOut];
      if (delivery === undefined) return new Promise((resolve) => awaited.push(resolve));
      handedOut += 1;
      return Promise.resolve(delivery);
    },
    allDisconnected: () =>
      open.size === 0 ? Promise.resolve() : new Promise((resolve) => whenDisconnected.push(resolve)),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function act(behaviour: Behaviour, response: ServerResponse): void {
  const { socket } = response;
  switch (behaviour.does) {
    case 'answer':
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
      return;
    case 'hang':
      return;
    case 'reset':
      socket?.resetAndDestroy();
      return;
    case 'say':
      socket?.end(behaviour.text);
      return;
    case 'drip':
      if (behaviour.part === 'head') {
        socket?.write('HTTP/1.1 200 OK\r\nx-drip: ');
        repeatedly(response, () => socket?.write('.'));
      } else {
        response.writeHead(200);
        repeatedly(response, () => response.write('.'));
      }
      return;
    case 'flood':
      response.writeHead(200);
      flood(response);
      return;
  }
}

function repeatedly(response: ServerResponse, drip: () => void): void {
  const timer = setInterval(drip, dripEveryMs);
  response.once('close', () => clearInterval(timer));
}

function flood(response: ServerResponse): void {
  const piece = Buffer.alloc(64 * 1_024, '.');
  while (!response.destroyed && response.write(piece));
  if (!response.destroyed) response.once('drain', () => flood(response));
}
