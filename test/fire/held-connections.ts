import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HeldConnections {
  /** How many of them the other side has not ended yet. */
  open(): number;
  /** The answers that came, by their status line. */
  answers(): readonly string[];
  close(): void;
}

/** How a client holds on to a connection that it does not use. */
export interface Hold {
  readonly first: string;
  /** What is sent now and then, so that it does not look idle; nothing if it is left out. */
  readonly drip?: string;
}

/** Many connections of clients that take their time, and do not close when they are told to go. */
export async function holdConnections(port: number, count: number, { first, drip }: Hold): Promise<HeldConnections> {
  const open = new Set<Socket>();
  const answers: string[] = [];
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      open.add(socket);
      socket.write(first);
      socket.once('data', (bytes: Buffer) => answers.push(bytes.toString('latin1').split('\r\n')[0] ?? ''));
      for (const end of ['end', 'close']) socket.once(end, () => open.delete(socket));
      return socket;
    }),
  );
  const dripping = setInterval(() => {
    if (drip !== undefined) for (const socket of open) socket.write(drip);
  }, 500);
  return {
    open: () => open.size,
    answers: () => answers,
    close() {
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    },
  };
}
