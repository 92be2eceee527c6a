import { describe, expect, test } from 'vitest';
import { steadyClock } from '../../src/client/client.ts';
import { createRateLimiter } from '../../src/service/http/rate-limit.ts';
import { inTurn, json, nothing, silence } from '../support/other-servers/answers.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, lockPath, ofKind, start, testClient, ttl } from './test-client.ts';

const fine = json(200, { workspaces: ['game'] });
const second = 1_000;

const lockRequest = (path: string) => ({
  workspace: game,
  path: lockPath(path),
  type: 'exclusive',
  ttl: ttl('1h'),
  idempotencyKey: path,
});

/** Takes so many requests a second, and as many at once; what it refuses it has not done. */
function limitedServer(perSecond: number, burst: number, clock: () => number) {
  const { admit } = createRateLimiter({ perSecond, burst }, clock);
  const count = { refused: 0, locked: 0, released: 0 };
  const answer: Answer = (response, { method }) => {
    if (method === 'DELETE') {
      count.released += 1;
      response.writeHead(204).end();
      return;
    }
    const admission = admit('token');
    if (admission.kind === 'refused') {
      count.refused += 1;
      response.writeHead(429, { ...admission.headers, 'retry-after': String(admission.retryAfterSeconds) }).end();
      return;
    }
    count.locked += 1;
    response.writeHead(201, { ...admission.headers, 'content-type': 'application/json' }).end('{"id":"1"}');
  };
  return { answer, count };
}

describe('a refusal for the rate limit is no failed attempt', () => {
  test.each([0, 4])('with %i retries, however often it comes', async (retries) => {
    const limited = Array.from({ length: 9 }, () => nothing(429, { 'retry-after': '1' }));
    const server = await startOtherServer(inTurn(nothing(429), ...limited, fine));
    const client = testClient(server.baseUrl, { retries });
    expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(server.requests).toHaveLength(11);
    expect(new Set(client.retries.map(({ reason }) => reason))).toEqual(new Set(['limited']));
  });

  test('nor is an overload that names the time of its end', async () => {
    const busy = Array.from({ length: 10 }, () => nothing(503, { 'retry-after': '2' }));
    const server = await startOtherServer(inTurn(nothing(503, { 'retry-after': '2' }), ...busy, fine));
    const client = testClient(server.baseUrl, { retries: 4 });
    expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(server.requests).toHaveLength(12);
  });

  test('but one that names none is', async () => {
    const server = await startOtherServer(nothing(503, { 'retry-after': '0' }));
    const client = testClient(server.baseUrl, { retries: 4 });
    await errorOf(client.listWorkspaces(client.within()));
    expect(server.requests).toHaveLength(5);
  });

  test('so that what is sent once only is sent again after it, and after nothing that may have done it', async () => {
    const release = { workspace: game, path: lockPath('a'), attempts: 'once' } as const;
    const limited = await startOtherServer(inTurn(nothing(429, { 'retry-after': '1' }), nothing(429), nothing(204)));
    const client = testClient(limited.baseUrl);
    expect(await client.releaseLock(release, client.within())).toEqual({ kind: 'released' });
    for (const status of [500, 502, 503]) {
      const server = await startOtherServer(inTurn(nothing(status, { 'retry-after': '1' }), nothing(204)));
      const once = testClient(server.baseUrl);
      expect(await once.releaseLock(release, once.within())).toMatchObject({ kind: 'failed', error: { status } });
      expect(server.requests).toHaveLength(1);
    }
  });

  test('so that a lock of which every request was refused is not one that may have been taken', async () => {
    const server = await startOtherServer(nothing(429));
    const client = testClient(server.baseUrl);
    ofKind(await client.acquireLock(lockRequest('a'), client.within(10 * second)), 'failed');
  });
});

test('a Retry-After beyond the deadline ends all calls at once, also those that were not sent yet', async () => {
  const server = await startOtherServer(inTurn(nothing(429, { 'retry-after': '600' }), silence));
  const client = testClient(server.baseUrl);
  const within = client.within(120 * second);
  const first = await errorOf(client.listWorkspaces(within));
  const second_ = await errorOf(client.listBranches({ workspace: game }, within));
  expect(server.requests).toHaveLength(1);
  expect(client.sleeps).toEqual([]);
  for (const error of [first, second_]) {
    expect(error.failure).toMatchObject({ kind: 'deadline', last: { status: 429 } });
    expect(error.message).toMatch(/The service asks to wait for (10|11) min, and less time is left \(/);
  }
});

test('forty locks at five a second are all taken without a failed attempt, and hardly one is refused', async () => {
  let now = start;
  const clock = () => now;
  const { answer, count } = limitedServer(5, 5, clock);
  const server = await startOtherServer(answer);
  const client = testClient(server.baseUrl, {
    clock,
    retries: 0,
    sleep: async (ms) => {
      now += ms;
    },
  });
  const within = client.within();
  const first = await client.acquireLock(lockRequest('first'), within);
  const others = Array.from({ length: 39 }, (_, number) => client.acquireLock(lockRequest(`${number}`), within));
  for (const lock of [first, ...(await Promise.all(others))]) ofKind(lock, 'acquired');
  expect(count.locked).toBe(40);
  expect(count.refused).toBeLessThan(8);
  expect(now - start).toBeLessThan(2 * 7 * second);
});

test('what is given back waits for none of the requests that wait for the limit', async () => {
  const { answer, count } = limitedServer(1, 1, steadyClock);
  const server = await startOtherServer(answer);
  const stop = new AbortController();
  const client = testClient(server.baseUrl, { clock: steadyClock, sleep: undefined });
  const waiting = Array.from({ length: 40 }, (_, number) =>
    client.acquireLock(lockRequest(`${number}`), client.within(60 * second, stop.signal)),
  );
  await Promise.race(waiting);
  const releases = Array.from({ length: 100 }, (_, number) =>
    client.releaseLock({ workspace: game, path: lockPath(`${number}`) }, client.within(60 * second)),
  );
  for (const release of await Promise.all(releases)) expect(release).toEqual({ kind: 'released' });
  expect(count.released).toBe(100);
  expect(count.locked).toBeLessThan(40);
  stop.abort();
  // They end at once, whatever they wait for.
  const ended = await Promise.all(waiting);
  expect(ended.filter(({ kind }) => kind === 'acquired').length).toBe(count.locked);
});

test('a release that is refused waits for itself, and is sent again', async () => {
  const server = await startOtherServer(inTurn(nothing(429, { 'retry-after': '3' }), nothing(204)));
  const client = testClient(server.baseUrl, { retries: 0 });
  expect(await client.releaseLock({ workspace: game, path: lockPath('a') }, client.within())).toEqual({
    kind: 'released',
  });
  expect(client.sleeps).toEqual([3_125]);
});

test('a server that tells of a limit that outlasts the deadline is asked all the same', async () => {
  const server = await startOtherServer(json(200, ['game'], { ratelimit: '"x";r=0;t=3600' }));
  const client = testClient(server.baseUrl);
  for (let turn = 0; turn < 3; turn += 1) await client.listWorkspaces(client.within());
  expect(server.requests).toHaveLength(3);
  expect(client.sleeps).toEqual([]);
});

test('what never got its turn says why', async () => {
  const tells = { ratelimit: '"x";r=0;t=9', 'ratelimit-policy': '"x";q=10;w=90' };
  const server = await startOtherServer(json(200, ['game'], tells));
  const client = testClient(server.baseUrl, { clock: steadyClock, sleep: undefined });
  await client.listWorkspaces(client.within());
  const waits = client.listWorkspaces(client.within(60 * second));
  const error = await errorOf(client.listWorkspaces(client.within(100)));
  expect(error.message).toBe(
    'The service limits how many requests it takes, and other requests came first: this one was not sent in time (GET /v1/workspaces).',
  );
  client.dispose();
  await errorOf(waits);
});
