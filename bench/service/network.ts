import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listenHere } from '../../test/support/listen.ts';

/** Timers with the same delay fire in the order in which they were set, so bytes stay in order. */
function carry(from: Socket, to: Socket, ms: number): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), ms));
  from.on('error', () => undefined);
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}

/** Starts a proxy for a port of this machine that adds a delay in each direction. */
export const startNetwork = (port: number, ms: number): Promise<Listening> =>
  listenHere(
    createServer({ noDelay: true }, (incoming) => {
      const outgoing = connect({ host: '127.0.0.1', port, noDelay: true });
      carry(incoming, outgoing, ms);
      carry(outgoing, incoming, ms);
    }),
  );
