import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent, startHelper } from '../process.ts';

export interface Receiver {
  readonly port: number;
  /** Counts from now on; gives the milliseconds from the first to the last of so many. */
  expect(number: number): Promise<number>;
  stop(): void;
}

/** A receiver of webhooks as a process of its own, which takes every one. */
export async function startReceiver(): Promise<Receiver> {
  const { ask, stop } = startHelper<'port' | number, number>(import.meta.filename);
  return { port: await ask('port'), expect: ask, stop };
}

if (import.meta.main) {
  let firstAt = 0;
  let count = 0;
  let expected = { number: 0, resolve: (_ms: number): void => undefined };
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(204).end();
      if (count === 0) firstAt = performance.now();
      count += 1;
      if (count === expected.number) expected.resolve(performance.now() - firstAt);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  answerParent<'port' | number, number>((question) => {
    // A server that listens on TCP has an address with a port.
    if (question === 'port') return Promise.resolve((server.address() as AddressInfo).port);
    count = 0;
    return new Promise((resolve) => {
      expected = { number: question, resolve };
    });
  });
}
