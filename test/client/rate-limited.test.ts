import { describe, expect, test } from 'vitest';
import { sleep, steadyClock } from '../../src/client/client.ts';
import { createThrottle } from '../../src/client/retry.ts';
import { createRateLimiter } from '../../src/service/access/access.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, silence } from '../support/other-servers/responses.ts';
import { clientOf, errorOf, game, lockPath, ofKind, ttl } from './test-client.ts';

const fine = json(200, { workspaces: ['game'] });
const second = 1_000;

const onPath = (path: string) => ({ workspace: game, path: lockPath(path) });
const lockRequest = (path: string) => ({
  ...onPath(path),
  type: 'exclusive',
  ttl: ttl('1h'),
  idempotencyKey: path,
});
const numbered = <T>(length: number, each: (name: string) => T): readonly T[] =>
  Array.from({ length }, (_, number) => each(`${number}`));

describe('a refusal by the rate limit', () => {
  test.each([0, 4])('does not count as an attempt, however often it comes: %i retries', async (retries) => {
    const limited = numbered(9, () => nothing(429, { 'retry-after': '1' }));
    const { server, client } = await clientOf(inTurn(nothing(429), ...limited, fine), { retries });
    expect((await client.ask()).items).toHaveLength(1);
    expect(server.requests).toHaveLength(11);
    expect(new Set(client.retries.map(({ kind }) => kind))).toEqual(new Set(['limited']));
  });

  test('is treated like an overload with Retry-After, but an overload without it counts as an attempt', async () => {
    const busy = nothing(503, { 'retry-after': '2' });
    const named = await clientOf(inTurn(busy, ...numbered(10, () => busy), fine));
    expect((await named.client.ask()).items).toHaveLength(1);
    expect(named.server.requests).toHaveLength(12);
    const { server, client } = await clientOf(nothing(503, { 'retry-after': '0' }));
    await errorOf(client.ask());
    expect(server.requests).toHaveLength(5);
  });

  test('is followed by a retry even for a request sent only once, unlike errors after a possible effect', async () => {
    const release = { ...onPath('a'), attempts: 'once' } as const;
    const { client } = await clientOf(inTurn(nothing(429, { 'retry-after': '1' }), nothing(429), nothing(204)));
    expect(await client.releaseLock(release, client.within())).toEqual({ kind: 'released' });
    for (const status of [500, 502, 503]) {
      const once = await clientOf(inTurn(nothing(status, { 'retry-after': '1' }), nothing(204)));
      const result = await once.client.releaseLock(release, once.client.within());
      expect(result).toMatchObject({ kind: 'failed', error: { status } });
      expect(once.server.requests).toHaveLength(1);
    }
  });

  test('reports a lock as failed, not unanswered, if every request was refused', async () => {
    const { client } = await clientOf(nothing(429));
    ofKind(await client.acquireLock(lockRequest('a'), client.within(10 * second)), 'failed');
  });
});

test('a Retry-After beyond the deadline ends all calls at once, even unsent ones', async () => {
  const { server, client } = await clientOf(inTurn(nothing(429, { 'retry-after': '600' }), silence));
  for (const _ of [1, 2]) {
    const error = await errorOf(client.ask());
    expect(error.failure).toMatchObject({ kind: 'deadline', last: { status: 429 } });
    expect(error.message).toMatch(/The service asked to wait (10|11) min, longer than the time left \(/);
  }
  expect(server.requests).toHaveLength(1);
  expect(client.sleeps).toEqual([]);
});

test('releases do not queue behind requests that wait for the rate limit', async () => {
  const { charge, headersOf } = createRateLimiter({ perSecond: 1, burst: 1 }, steadyClock);
  let locked = 0;
  const answer: Answer = (response, request) => {
    if (request.method === 'DELETE') {
      nothing(204)(response, request);
      return;
    }
    const seconds = charge('token');
    if (seconds === 0) locked += 1;
    const refused = nothing(429, { ...headersOf('token'), 'retry-after': String(seconds) });
    (seconds > 0 ? refused : json(201, { id: '1' }, headersOf('token')))(response, request);
  };
  const stop = new AbortController();
  const { server, client } = await clientOf(answer, { clock: steadyClock, sleep });
  const waiting = numbered(40, (name) =>
    client.acquireLock(lockRequest(name), client.within(60 * second, stop.signal)),
  );
  await Promise.race(waiting);
  const releases = numbered(100, (name) => client.releaseLock(onPath(name), client.within(60 * second)));
  for (const release of await Promise.all(releases)) expect(release).toEqual({ kind: 'released' });
  expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(100);
  // One lock per second is granted. Most would be if the releases had queued.
  expect(locked).toBeLessThan(12);
  stop.abort();
  // The waiting requests end at once.
  const ended = await Promise.all(waiting);
  expect(ended.filter(({ kind }) => kind === 'acquired').length).toBe(locked);
});

test('a refusal pauses the other requests of the client, for as long as the service asks', async () => {
  const { server, client } = await clientOf(inTurn(nothing(429, { 'retry-after': '5' }), fine));
  const [first] = await Promise.all([client.ask(), client.ask()]);
  expect(first.items).toHaveLength(1);
  await client.ask();
  expect(server.requests.length).toBeLessThanOrEqual(4);
  expect(client.sleeps[0]).toBeCloseTo(5_125, -2);
});

test('pauses longer after each consecutive refusal, and starts over after a success', () => {
  const throttle = createThrottle(() => 0);
  const pauseAfterRefusal = (now: number): number => {
    throttle.onRefusal(now, undefined, now);
    // Requests that were refused at the same time add nothing.
    throttle.onRefusal(now - 1, undefined, now);
    return throttle.refusedUntil() - now;
  };
  expect([0, 1, 2, 3].map((turn) => pauseAfterRefusal(turn * 60 * second))).toEqual([250, 500, 1_000, 2_000]);
  throttle.onUnlimited();
  expect(pauseAfterRefusal(600 * second)).toBe(250);
});
