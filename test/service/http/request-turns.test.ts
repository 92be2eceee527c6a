import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createFairTurns } from '../../../src/service/http/fair-turns.ts';
import { createRequestTurns, measureCost } from '../../../src/service/http/request-turns.ts';

interface Sent {
  readonly credential?: string;
  readonly address?: string;
}

/** Says in whose turns requests are, and what is measured of whom. */
function setUp() {
  const sent = new WeakMap<IncomingMessage, Sent>();
  const keys: string[] = [];
  const costs: [string, number][] = [];
  const turns = createRequestTurns({
    credentialOf: (incoming) => sent.get(incoming)?.credential,
    addressOf: (incoming) => sent.get(incoming)?.address ?? null,
    turns: {
      ...createFairTurns(),
      wait: async (key) => void keys.push(key),
      measured: (key, cost) => void costs.push([key, cost]),
    },
  });
  async function request(what: Sent): Promise<IncomingMessage> {
    const incoming = new IncomingMessage(new Socket());
    sent.set(incoming, what);
    await turns.wait(incoming);
    return incoming;
  }
  return { turns, request, keys, costs };
}

test('credentials that were good before have the turns of their token, and all others those of their address', async () => {
  const { turns, request, keys } = setUp();
  const address = '192.0.2.7';
  turns.identify(await request({ credential: 'good', address }), 'tok_1');
  turns.identify(await request({ credential: 'session', address }), 'tok_1');
  await request({ credential: 'good', address: '192.0.2.8' });
  await request({ credential: 'session', address });
  for (let guess = 0; guess < 3; guess += 1) await request({ credential: `guess ${guess}`, address });
  await request({ address: '192.0.2.8' });
  expect(keys).toEqual([
    `address ${address}`,
    `address ${address}`,
    'token tok_1',
    'token tok_1',
    ...Array.from({ length: 3 }, () => `address ${address}`),
    'address 192.0.2.8',
  ]);
});

test('what was asked with a credential does not keep those of others from being known', async () => {
  const { turns, request, keys } = setUp();
  turns.identify(await request({ credential: 'first' }), 'tok_first');
  // One token can only have so many sessions; each of its requests says again whose they are.
  for (let turn = 0; turn < 20_000; turn += 1) {
    turns.identify(await request({ credential: `session ${turn % 10}` }), 'tok_busy');
  }
  await request({ credential: 'first' });
  expect(keys.at(-1)).toBe('token tok_first');
});

test('what a piece of work takes is the cost of each of its requests, also when it fails', async () => {
  const { turns, costs } = setUp();
  expect(await measureCost(turns, ['a', 'b'], async () => 'done')).toBe('done');
  const failing = measureCost(turns, ['c'], async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(costs.map(([key]) => key)).toEqual(['token a', 'token b', 'token c']);
  for (const [, cost] of costs) expect(cost).toBeGreaterThan(0);
});
