import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';

/**
 * A network between a service and its database: every byte arrives some time after it was sent, each way, and in order. In
 * a process of its own: `node distant.ts --host HOST --port PORT --ms MS` tells the port that it listens at.
 */

const { values } = parseArgs({
  options: { host: { type: 'string' }, port: { type: 'string' }, ms: { type: 'string' } },
});
const { host = '127.0.0.1' } = values;
const ms = Number(values.ms);

function carry(from: Socket, to: Socket): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), ms));
  from.on('end', () => setTimeout(() => to.end(), ms));
  from.on('error', () => to.destroy());
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}

const server = createServer({ noDelay: true }, (incoming) => {
  const outgoing = connect({ host, port: Number(values.port), noDelay: true });
  carry(incoming, outgoing);
  carry(outgoing, incoming);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('It listens at no port.');
process.stdout.write(`${address.port}\n`);
process.once('SIGTERM', () => process.exit());
