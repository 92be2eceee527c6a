import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startLatencyProxy } from '../../bench/service/latency-proxy.ts';
import { listenHere } from '../support/listen.ts';

test('what passes arrives later, each way, whole and in its order', async () => {
  const server = createServer((socket) => socket.pipe(socket));
  const port = await listenHere(server);
  onTestFinished(() => void server.close());
  const address = `postgres://somebody@127.0.0.1:${port}/name`;
  const proxy = await startLatencyProxy({ atEnd: (stop) => onTestFinished(() => void stop()) }, address, 40);
  const { pathname, username, port: proxied } = new URL(proxy);
  expect([pathname, username]).toEqual(['/name', 'somebody']);
  expect(proxied).not.toBe(String(port));

  const socket: Socket = connect(Number(proxied), '127.0.0.1');
  const sentAt = performance.now();
  const numbers = Array.from({ length: 20_000 }, (_, index) => `${index} `).join('');
  socket.write(numbers);
  const first = new Promise<number>((resolve) => socket.once('data', () => resolve(performance.now())));
  const received: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      received.push(bytes);
      length += bytes.length;
      if (length === numbers.length) resolve();
    });
  });
  socket.destroy();
  expect(Buffer.concat(received).toString()).toBe(numbers);
  expect((await first) - sentAt).toBeGreaterThanOrEqual(78);
});
