import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from './listen.ts';

/** A network between two programs that can fail: bytes pass through it until it is cut. */
export async function startCuttableProxy(host: string, port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const cutAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((incoming) => {
    track(incoming);
    if (isCut) {
      incoming.resetAndDestroy();
      return;
    }
    const outgoing = connect(port, host);
    track(outgoing);
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
  });
  const listensAt = await listenHere(server);
  return {
    port: listensAt,
    /** Cuts all connections, and new ones until `restore`. */
    cut() {
      isCut = true;
      cutAll();
    },
    /** Stops all bytes in the open connections without an error. New connections are not affected. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore() {
      isCut = false;
    },
    async close() {
      cutAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
