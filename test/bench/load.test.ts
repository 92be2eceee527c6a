import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type LoadPlan, runLoad } from '../../bench/service/load.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';

/** A service that responds after a short delay. */
async function startServer(status: number) {
  const { baseUrl, requests, connections } = await startOtherServer(async (response, request) => {
    await wait(5);
    json(status, {})(response, request);
  });
  return { requests, connections, target: { baseUrl, workspace: 'game', token: 'wsa_bench' } };
}

const plan: Omit<LoadPlan, 'targets'> = { ask: 'for locks', name: 'test', clients: 4, warmUpMs: 60, ms: 60 };

test('clients request different locks over persistent connections, and the warm-up is not counted', async () => {
  const { requests, connections, target } = await startServer(201);
  const { latenciesMs, rate } = await runLoad({ ...plan, targets: [target] });
  expect(new Set(requests.map(({ body }) => body)).size).toBe(requests.length);
  expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(requests.length);
  expect(connections.opened).toBe(4);
  expect(Math.min(...latenciesMs)).toBeGreaterThan(4);
  expect(latenciesMs.length).toBeLessThan(requests.length);
  expect(rate).toBeCloseTo((latenciesMs.length / 60) * 1_000);
});
