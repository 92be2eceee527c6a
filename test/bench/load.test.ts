import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type LoadPlan, runLoad } from '../../bench/service/load.ts';
import { listenHere } from '../support/listen.ts';

interface Asked {
  readonly url: string | undefined;
  readonly body: unknown;
  readonly key: unknown;
  readonly socket: IncomingMessage['socket'];
}

/** A service that responds after a short delay. */
async function startServer(status: number) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { url, headers, socket } = request;
    asked.push({ url, body: await json(request), key: headers['idempotency-key'], socket });
    await wait(5);
    response.writeHead(status).end('{}');
  });
  const port = await listenHere(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, target: { baseUrl: `http://127.0.0.1:${port}/v1`, workspace: 'game', token: 'wsa_bench' } };
}

const plan: Omit<LoadPlan, 'targets'> = { ask: 'for locks', name: 'test', clients: 4, warmUpMs: 60, ms: 60 };

test('clients request different locks over persistent connections, and the warm-up is not counted', async () => {
  const { asked, target } = await startServer(201);
  const { latenciesMs, rate } = await runLoad({ ...plan, targets: [target] });
  expect(new Set(asked.map(({ body }) => JSON.stringify(body))).size).toBe(asked.length);
  expect(new Set(asked.map(({ key }) => key)).size).toBe(asked.length);
  expect(new Set(asked.map(({ socket }) => socket)).size).toBe(4);
  expect(Math.min(...latenciesMs)).toBeGreaterThan(4);
  expect(latenciesMs.length).toBeLessThan(asked.length);
  expect(rate).toBeCloseTo((latenciesMs.length / 60) * 1_000);
});
