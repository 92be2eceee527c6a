import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** It listens, and then never does anything again: what the system has accepted for it, it never takes. */
const listener = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** A port whose queue is full, so that no connection is ever made: packets to it might as well be lost. */
export async function startDeafPort() {
  const worker = new Worker(listener, { eval: true });
  const [port] = await once(worker, 'message');
  const sockets: Socket[] = [];
  // The system takes a few connections by itself. Once one has to wait, all others have to as well.
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
