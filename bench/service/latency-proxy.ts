import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from '../../test/support/listen.ts';
import { answerParent, type Ends, startHelper } from '../process.ts';

interface Network {
  readonly host: string;
  readonly port: number;
  /** All that passes arrives so much later, each way. */
  readonly ms: number;
}

/** Timers of the same time end in the order in which they began: so do the bytes. */
function carry(from: Socket, to: Socket, ms: number): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), ms));
  from.on('error', () => undefined);
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}

const listen = ({ host, port, ms }: Network): Promise<number> =>
  listenHere(
    createServer({ noDelay: true }, (incoming) => {
      const outgoing = connect({ host, port, noDelay: true });
      carry(incoming, outgoing, ms);
      carry(outgoing, incoming, ms);
    }),
  );

/**
 * A network between a service and its database: gives the address of the same database, as far away. In a process of its
 * own, so that it does not wait for who measures.
 */
export async function startLatencyProxy(ends: Ends, databaseUrl: string, ms: number): Promise<string> {
  const ask = startHelper<Network, number>(ends, import.meta.filename);
  const url = new URL(databaseUrl);
  const port = await ask({ host: url.hostname, port: Number(url.port || '5432'), ms });
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

if (import.meta.main) answerParent(listen);
