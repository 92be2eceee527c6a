import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from '../../test/support/listen.ts';

/** Timers of the same time end in the order in which they began: so do the bytes. */
function carry(from: Socket, to: Socket, ms: number): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), ms));
  from.on('error', () => undefined);
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}

/** A network that adds so much each way: gives the port at which what listens at a port of this machine is as far away. */
export const startNetwork = (port: number, ms: number): Promise<number> =>
  listenHere(
    createServer({ noDelay: true }, (incoming) => {
      const outgoing = connect({ host: '127.0.0.1', port, noDelay: true });
      carry(incoming, outgoing, ms);
      carry(outgoing, incoming, ms);
    }),
  );
