import { createServer } from 'node:http';
import { listenHere } from '../../test/support/listen.ts';
import type { Bench } from '../benchmark.ts';
import { answerParent, startHelper } from '../process.ts';

/** A receiver of webhooks as a process of its own, which takes every one. */
export async function startReceiver(bench: Bench) {
  const ask = startHelper<'port' | number, number>(bench, import.meta.filename);
  const port = await ask('port');
  return {
    /** So many different addresses of it. */
    urls: (count: number) => Array.from({ length: count }, (_, hook) => `http://127.0.0.1:${port}/hook-${hook}`),
    /** Counts from now on; gives the milliseconds from the first to the last of so many. */
    expect: (number: number): Promise<number> => ask(number),
  };
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
  const port = await listenHere(server);
  answerParent<'port' | number, number>((question) => {
    if (question === 'port') return Promise.resolve(port);
    count = 0;
    return new Promise((resolve) => {
      expected = { number: question, resolve };
    });
  });
}
