import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Listening {
  readonly port: number;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Stops listening, and ends all connections. */
  close(): Promise<void>;
}

/** Lets a server listen on this machine only. An error of a connection only ends that connection. */
export async function listenHere(server: Server, { host = '127.0.0.1' } = {}): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, host), 'listening');
  return {
    // A server that listens on TCP has an address with a port.
    port: (server.address() as AddressInfo).port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Passes on bytes in both directions. When one side closes, so does the other. */
export function joinSockets(one: Duplex, other: Duplex): void {
  one.pipe(other).pipe(one);
  for (const [closed, left] of [
    [one, other],
    [other, one],
  ] as const) {
    closed.on('error', () => undefined);
    closed.once('close', () => left.destroy());
  }
}

/** A port that nothing listens on: only the kernel knows one, and some programs do not report theirs. */
export async function freePort(): Promise<number> {
  const { port, close } = await listenHere(createServer());
  await close();
  return port;
}
