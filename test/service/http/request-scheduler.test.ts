import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createFairScheduler } from '../../../src/service/http/fair-scheduler.ts';
import { createRequestScheduler, measureCost } from '../../../src/service/http/request-scheduler.ts';

interface Sent {
  readonly credential?: string;
  readonly address?: string;
}

/** Records the keys by which requests wait, and the costs that are measured for them. */
function setUp() {
  const sent = new WeakMap<IncomingMessage, Sent>();
  const keys: string[] = [];
  const waiting = new Set<{ begin(): void }>();
  const costs: [string, number][] = [];
  const scheduler = createRequestScheduler({
    credentialOf: (incoming) => sent.get(incoming)?.credential,
    addressOf: (incoming) => sent.get(incoming)?.address ?? null,
    scheduler: {
      ...createFairScheduler(),
      wait(key, begin) {
        keys.push(key);
        const request = { begin };
        waiting.add(request);
        return () => void waiting.delete(request);
      },
      measured: (key, cost) => void costs.push([key, cost]),
    },
  });
  function request(what: Sent, begin = (): void => undefined): IncomingMessage {
    const incoming = new IncomingMessage(new Socket());
    sent.set(incoming, what);
    scheduler.wait(incoming, begin);
    return incoming;
  }
  return { scheduler, request, keys, costs, waiting };
}

test('known credentials get the turns of their token, and all others those of their address', async () => {
  const { scheduler, request, keys } = setUp();
  const address = '192.0.2.7';
  scheduler.identify(request({ credential: 'good', address }), 'tok_1');
  scheduler.identify(request({ credential: 'session', address }), 'tok_1');
  request({ credential: 'good', address: '192.0.2.8' });
  request({ credential: 'session', address });
  for (let guess = 0; guess < 3; guess += 1) request({ credential: `guess ${guess}`, address });
  request({ address: '192.0.2.8' });
  expect(keys).toEqual([
    `address ${address}`,
    `address ${address}`,
    'token tok_1',
    'token tok_1',
    ...Array.from({ length: 3 }, () => `address ${address}`),
    'address 192.0.2.8',
  ]);
});

test('all addresses of an IPv6 subscriber share their turns', () => {
  const { request, keys } = setUp();
  for (const address of ['2001:db8::1', '2001:db8::ffff:1', '2001:db8:0:1::1']) request({ address });
  expect(keys).toEqual(['address 2001:db8::/64', 'address 2001:db8::/64', 'address 2001:db8:0:1::/64']);
});

test('many requests of one token do not displace the known credentials of others', async () => {
  const { scheduler, request, keys } = setUp();
  scheduler.identify(request({ credential: 'first' }), 'tok_first');
  // The sessions of a token are limited, and each request identifies its token again.
  for (let turn = 0; turn < 20_000; turn += 1) {
    scheduler.identify(request({ credential: `session ${turn % 10}` }), 'tok_busy');
  }
  request({ credential: 'first' });
  expect(keys.at(-1)).toBe('token tok_first');
});

test('the cost of shared work is measured for each of its requests, even if it fails', async () => {
  const { scheduler, costs } = setUp();
  expect(await measureCost(scheduler, ['a', 'b'], async () => 'done')).toBe('done');
  const failing = measureCost(scheduler, ['c'], async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(costs.map(([key]) => key)).toEqual(['token a', 'token b', 'token c']);
  for (const [, cost] of costs) expect(cost).toBeGreaterThan(0);
});

test('a request of a closed connection stops waiting, and a started one leaves no listener behind', () => {
  const { request, waiting } = setUp();
  const gone = request({}, () => expect.fail('Its client is gone.'));
  gone.socket.emit('close');
  expect(waiting.size).toBe(0);
  let begun = 0;
  const served = request({}, () => {
    begun += 1;
  });
  for (const { begin } of waiting) begin();
  expect(begun).toBe(1);
  expect(served.socket.listenerCount('close')).toBe(new Socket().listenerCount('close'));
});

test('a long response waits for another turn, until its client disconnects', async () => {
  const { scheduler, request, keys, waiting } = setUp();
  const incoming = request({ address: '192.0.2.7' });
  waiting.clear();
  const next = scheduler.nextTurn(incoming);
  expect(keys).toEqual(['address 192.0.2.7', 'address 192.0.2.7']);
  for (const { begin } of waiting) begin();
  await next;
  waiting.clear();
  const last = scheduler.nextTurn(incoming);
  incoming.socket.emit('close');
  await last;
  expect(waiting.size).toBe(0);
});
