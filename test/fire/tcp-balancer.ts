import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from '../support/listen.ts';

interface TcpBalancerOptions {
  readonly targets: () => readonly number[];
  /** Called before a connection receives its response: returns whether it breaks instead. */
  readonly losesAnswer?: () => boolean;
}

/** Forwards each connection to the next available target in turn, without looking at its data. */
export async function startTcpBalancer({ targets, losesAnswer = () => false }: TcpBalancerOptions) {
  let turn = 0;

  function handOver(incoming: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      incoming.resetAndDestroy();
      return;
    }
    const outgoing = connect(port, '127.0.0.1');
    const tryOthers = (): void => handOver(incoming, others);
    outgoing.once('error', tryOthers);
    outgoing.once('connect', () => {
      outgoing.off('error', tryOthers);
      outgoing.on('error', () => incoming.resetAndDestroy());
      incoming.once('close', () => outgoing.destroy());
      outgoing.once('close', () => incoming.destroy());
      incoming.pipe(outgoing);
      outgoing.once('readable', () => {
        if (losesAnswer()) incoming.resetAndDestroy();
        else outgoing.pipe(incoming);
      });
    });
  }

  const server = createServer((incoming) => {
    const ports = targets();
    turn += 1;
    handOver(
      incoming,
      ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0),
    );
  });
  return listenHere(server);
}
