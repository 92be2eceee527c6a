import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRequestLimit } from '../../../src/service/http/request-limit.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A request starts in the turn after it gets a slot. */
const turn = async (): Promise<void> => {
  for (let turns = 0; turns < 3; turns += 1) await setImmediate();
};

interface Sent {
  readonly method?: 'GET' | 'HEAD';
  readonly credential?: string;
  readonly address?: string;
}

function setUp() {
  const sent = new WeakMap<IncomingMessage, Sent>();
  const { wait, identify } = createRequestLimit({
    credentialOf: (incoming) => sent.get(incoming)?.credential,
    addressOf: (incoming) => sent.get(incoming)?.address ?? null,
  });
  /** Sends a request, and returns whether it has started, and its end. */
  async function request(what: Sent, tokenId?: string) {
    const incoming = new IncomingMessage(new Socket());
    incoming.method = what.method ?? 'POST';
    sent.set(incoming, what);
    const outgoing = new ServerResponse(incoming);
    const state = { isStarted: false, incoming, end: () => void outgoing.emit('close') };
    void wait(incoming, outgoing, () => {
      state.isStarted = true;
      if (tokenId !== undefined) identify(incoming, tokenId);
    });
    await turn();
    return state;
  }
  return async (count: number, what: Sent, tokenId?: string) => {
    const states: Awaited<ReturnType<typeof request>>[] = [];
    for (let index = 0; index < count; index += 1) states.push(await request(what, tokenId));
    return states;
  };
}

const started = (requests: readonly { readonly isStarted: boolean }[]) => requests.filter((each) => each.isStarted);

test('128 requests of a token run at once, and the next one when one of them has ended', async () => {
  const send = setUp();
  const [first] = await send(1, { credential: 'good', address: '192.0.2.7' }, 'tok_1');
  first?.end();
  await turn();
  const requests = await send(130, { credential: 'good', address: '192.0.2.7' });
  expect(started(requests)).toHaveLength(128);
  requests[0]?.end();
  await turn();
  expect(started(requests)).toHaveLength(129);
});

test('4 reads of a token run at once, in addition to its other requests', async () => {
  const send = setUp();
  await send(128, { address: '192.0.2.7' });
  expect(started(await send(6, { method: 'GET', address: '192.0.2.7' }))).toHaveLength(4);
  expect(started(await send(1, { method: 'HEAD', address: '192.0.2.7' }))).toHaveLength(0);
});

test('a token is not delayed by the requests of another one, or of strangers at its address', async () => {
  const send = setUp();
  const [known] = await send(1, { credential: 'good', address: '192.0.2.7' }, 'tok_1');
  known?.end();
  await turn();
  expect(started(await send(200, { credential: 'a guess', address: '192.0.2.7' }))).toHaveLength(128);
  expect(started(await send(1, { credential: 'another guess', address: '192.0.2.7' }))).toHaveLength(0);
  expect(started(await send(1, { credential: 'good', address: '192.0.2.7' }))).toHaveLength(1);
});

test('a session and its token share their slots, and so do all addresses of an IPv6 subscriber', async () => {
  const send = setUp();
  for (const credential of ['good', 'session']) (await send(1, { credential }, 'tok_1'))[0]?.end();
  await turn();
  await send(128, { credential: 'good' });
  expect(started(await send(1, { credential: 'session' }))).toHaveLength(0);
  await send(128, { address: '2001:db8::1' });
  expect(started(await send(1, { address: '2001:db8::ffff:1' }))).toHaveLength(0);
  expect(started(await send(1, { address: '2001:db8:0:1::1' }))).toHaveLength(1);
});

test('a request that waits for something else makes room after 100 ms', async () => {
  const send = setUp();
  const requests = await send(129, { address: '192.0.2.7' });
  expect(started(requests)).toHaveLength(128);
  await vi.advanceTimersByTimeAsync(100);
  expect(started(requests)).toHaveLength(129);
});

test('a request of a closed connection is not started', async () => {
  const send = setUp();
  const requests = await send(129, { address: '192.0.2.7' });
  requests[128]?.incoming.socket.destroy();
  requests[0]?.end();
  await turn();
  expect(started(requests)).toHaveLength(128);
});
