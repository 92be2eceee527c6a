import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';

/**
 * The other end of latency-proxy.ts: `node latency-proxy-process.ts --host HOST --port PORT --ms MS` tells the port that it
 * listens at.
 */

const { values } = parseArgs({
  options: { host: { type: 'string' }, port: { type: 'string' }, ms: { type: 'string' } },
});
const ms = Number(values.ms);

/** Timers of the same time end in the order in which they began: so do the bytes. */
function carry(from: Socket, to: Socket): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), ms));
  from.on('error', () => undefined);
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}

const server = createServer({ noDelay: true }, (incoming) => {
  const outgoing = connect({ host: values.host, port: Number(values.port), noDelay: true });
  carry(incoming, outgoing);
  carry(outgoing, incoming);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The proxy does not listen on TCP.');
process.stdout.write(`${address.port}\n`);
