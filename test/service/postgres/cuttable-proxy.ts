import { connect, createServer } from 'node:net';
import { joinSockets, listenHere } from '../../support/listen.ts';

/** A network between two programs that can fail: bytes pass through it until it is cut. */
export async function startCuttableProxy(host: string, port: number) {
  let isCut = false;
  const server = createServer((incoming) => {
    if (isCut) incoming.resetAndDestroy();
    else joinSockets(incoming, connect(port, host));
  });
  const { sockets, ...listening } = await listenHere(server);
  return {
    ...listening,
    /** Cuts all connections, and new ones until `restore`. */
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    /** Stops all bytes in the open connections without an error. New connections are not affected. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause().cork();
    },
    restore() {
      isCut = false;
    },
  };
}
