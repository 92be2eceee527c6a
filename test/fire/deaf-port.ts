import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Listens, and then never accepts a connection: those that the system has completed stay in its queue. */
const listener = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** A port with a full queue, where no connection is ever established, as if packets to it were lost. */
export async function startDeafPort() {
  const worker = new Worker(listener, { eval: true });
  const [port] = await once(worker, 'message');
  const sockets: Socket[] = [];
  // The system accepts a few connections by itself. Once one must wait, all later ones must, too.
  for (let connected = true; connected && sockets.length < 64; ) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    connected = await Promise.race([once(socket, 'connect').then(() => true), sleep(200).then(() => false)]);
  }
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await worker.terminate();
    },
  };
}
