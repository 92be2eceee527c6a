import { describe, expect, test } from 'vitest';
import { inTurn, json, nothing } from '../support/other-servers/responses.ts';
import { clientOf, game, lockPath, ofKind, start, ttl } from './test-client.ts';

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
  });

  test('is followed by a retry even for a request sent only once, unlike errors after a possible effect', async () => {
    const release = { ...onPath('a'), once: true };
    const { client } = await clientOf(inTurn(nothing(429, { 'retry-after': '1' }), nothing(429), nothing(204)));
    expect(await client.releaseLock(release, client.within())).toEqual({ kind: 'released' });
    for (const status of [500, 502, 503]) {
      const once = await clientOf(inTurn(nothing(status, { 'retry-after': '1' }), nothing(204)));
      const result = await once.client.releaseLock(release, once.client.within());
      expect(result).toMatchObject({ kind: 'failed', error: { status } });
      expect(once.server.requests).toHaveLength(1);
    }
  });
});

test('a refusal without Retry-After is repeated ever more slowly, even while waiting for a service to come back', async () => {
  const { client } = await clientOf(inTurn(nothing(429), ...numbered(5, () => nothing(429)), json(201, { id: '1' })));
  const within = { ...client.within(60 * second), maxBackoffMs: 200 };
  ofKind(await client.acquireLock(lockRequest('a'), within), 'acquired');
  expect(client.sleeps.at(-1)).toBeGreaterThan(4_000);
});

test('a release does not wait for the rate limit of other requests', async () => {
  let now = start;
  const paused = Promise.withResolvers<void>();
  const pausing = Promise.withResolvers<void>();
  const refused = inTurn(nothing(429, { 'retry-after': '5' }), json(201, { id: '1' }));
  const { client } = await clientOf(
    (response, request) => (request.method === 'DELETE' ? nothing(204) : refused)(response, request),
    {
      clock: () => now,
      async sleep(ms) {
        pausing.resolve();
        await paused.promise;
        now += ms;
      },
    },
  );
  const waiting = client.acquireLock(lockRequest('a'), client.within());
  await pausing.promise;
  expect(await client.releaseLock(onPath('b'), client.within())).toEqual({ kind: 'released' });
  paused.resolve();
  ofKind(await waiting, 'acquired');
});
