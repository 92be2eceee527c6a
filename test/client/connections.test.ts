import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { inTurn, json, nothing, silence, stuck } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, lockPath, testClient, ttl } from './test-client.ts';

const fine = json(200, ['game']);

/** These tests are about time itself. */
const real = { clock: Date.now, sleep: undefined };

describe('the limit of an attempt', () => {
  test.each([
    ['never comes', silence],
    ['begins and never ends', stuck(200, '["ga')],
  ])('ends one whose answer %s, and another one follows', async (_, answer) => {
    const server = await startOtherServer(inTurn(answer, fine));
    const client = testClient(server.baseUrl, { requestTimeoutMs: 500 });
    expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(client.retries.map(({ why }) => why)).toEqual([
      'The service did not answer within 500 ms (GET /v1/workspaces).',
    ]);
  });

  test('counts from when there is a free connection', async () => {
    const server = await startOtherServer((response) => {
      setTimeout(() => response.end('[]'), 300);
    });
    // Four turns of sixteen take longer than the limit, and each of them far less.
    const client = testClient(server.baseUrl, { requestTimeoutMs: 1_000 });
    await Promise.all(Array.from({ length: 64 }, () => client.listWorkspaces(client.within())));
    expect(client.retries).toEqual([]);
    expect(server.requests).toHaveLength(64);
  });
});

describe('the deadline', () => {
  test('cuts an attempt short', async () => {
    const server = await startOtherServer(silence);
    const client = testClient(server.baseUrl, real);
    const began = Date.now();
    const error = await errorOf(client.listWorkspaces(client.within(100)));
    expect(error.failure).toEqual({ kind: 'deadline', last: undefined, retryAfterMs: undefined, limited: false });
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  test('ends those that still wait for a connection', async () => {
    const server = await startOtherServer(silence);
    const client = testClient(server.baseUrl, real);
    const within = client.within(1_500);
    const errors = await Promise.all(Array.from({ length: 20 }, () => errorOf(client.listWorkspaces(within))));
    expect(errors.map(({ failure }) => failure.kind)).toEqual(Array.from({ length: 20 }, () => 'deadline'));
    expect(server.requests).toHaveLength(16);
  });
});

test('a deadline and a limit beyond what a timer can count are no deadline and no limit', async () => {
  const server = await startOtherServer((response) => setTimeout(() => response.end('["game"]'), 20));
  const client = testClient(server.baseUrl, { requestTimeoutMs: 1e12 });
  for (const ms of [1e12, Number.POSITIVE_INFINITY]) {
    expect((await client.listWorkspaces(client.within(ms))).items).toHaveLength(1);
  }
  expect(client.retries).toEqual([]);
});

test('connections are kept, used again, and never more than sixteen', async () => {
  const server = await startOtherServer((response) => setImmediate(() => response.writeHead(204).end()));
  const client = testClient(server.baseUrl);
  const requests = Array.from({ length: 300 }, (_, n) =>
    client.releaseLock({ workspace: game, path: lockPath(`f${n}`) }, client.within()),
  );
  expect(new Set((await Promise.all(requests)).map(({ kind }) => kind))).toEqual(new Set(['released']));
  expect(server.requests).toHaveLength(300);
  expect(server.connections.mostAtOnce).toBe(16);
  expect(server.connections.opened).toBe(16);
});

test('connections that the server closes after each answer are opened again', async () => {
  const server = await startOtherServer(json(200, [], { connection: 'close' }));
  const client = testClient(server.baseUrl);
  await Promise.all(Array.from({ length: 64 }, () => client.listWorkspaces(client.within())));
  expect(client.retries).toEqual([]);
  expect(server.requests).toHaveLength(64);
});

describe('a signal', () => {
  test('ends a request that is under way, and its connection', async () => {
    const stop = new AbortController();
    let cut: Promise<void> | undefined;
    const server = await startOtherServer((response) => {
      cut = new Promise((resolve) => response.on('close', () => resolve()));
      stop.abort();
    });
    const client = testClient(server.baseUrl, real);
    const error = await errorOf(client.listWorkspaces(client.within(60_000, stop.signal)));
    expect(error.failure.kind).toBe('aborted');
    await cut;
  });

  test('gives the places of those that wait to the next', async () => {
    const waiting: ServerResponse[] = [];
    const server = await startOtherServer((response) => waiting.push(response));
    const client = testClient(server.baseUrl);
    const busy = Array.from({ length: 16 }, () => client.listWorkspaces(client.within()));
    const stop = new AbortController();
    const gone = Array.from({ length: 16 }, () => errorOf(client.listWorkspaces(client.within(60_000, stop.signal))));
    const next = client.listWorkspaces(client.within());
    stop.abort();
    for (const error of await Promise.all(gone))
      expect(error).toMatchObject({ attempts: 0, failure: { kind: 'aborted' } });
    await vi.waitFor(() => expect(waiting).toHaveLength(16));
    for (const response of waiting.splice(0)) response.end('[]');
    await Promise.all(busy);
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    waiting[0]?.end('["game"]');
    expect((await next).items).toHaveLength(1);
  });
});

test('a client that is disposed of ends what is under way, and sends nothing more', async () => {
  const server = await startOtherServer(silence);
  const client = testClient(server.baseUrl, real);
  const pending = errorOf(client.listWorkspaces(client.within()));
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  client.dispose();
  expect((await pending).failure.kind).toBe('aborted');
  expect((await errorOf(client.listWorkspaces(client.within()))).failure.kind).toBe('aborted');
  expect(server.requests).toHaveLength(1);
});

describe('a server that is not there', () => {
  const freePort = (): Promise<number> =>
    new Promise((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
      });
    });

  test('is asked again, and then named with the reason', async () => {
    const port = await freePort();
    const client = testClient(`http://127.0.0.1:${port}/v1`);
    const error = await errorOf(client.listWorkspaces(client.within()));
    expect(error.failure).toMatchObject({ kind: 'connection', code: 'ECONNREFUSED', mayHaveArrived: false });
    expect(error.message).toBe(
      `The connection failed: connect ECONNREFUSED 127.0.0.1:${port} (GET /v1/workspaces, 5 attempts).`,
    );
  });

  test('cannot have granted a lock', async () => {
    const client = testClient(`http://127.0.0.1:${await freePort()}/v1`);
    const request = { workspace: game, path: lockPath('a'), type: 'exclusive', ttl: ttl('1h'), idempotencyKey: 'k' };
    expect(await client.acquireLock(request, client.within())).toMatchObject({ kind: 'failed' });
    expect(await client.acquireLock({ ...request, keySentBefore: true }, client.within())).toMatchObject({
      kind: 'unclear',
    });
  });
});

test('an IPv6 address is one to connect to', async ({ skip }) => {
  const server = await startOtherServer(fine, { host: '::1' }).catch(() => undefined);
  if (server === undefined) return skip('This machine has no IPv6.');
  const client = testClient(server.baseUrl);
  expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
  expect(server.requests[0]?.headers.host).toBe(`[::1]:${server.port}`);
});

describe('the clock of the server', () => {
  test('is that of its last answer, and goes on with ours', async () => {
    const server = await startOtherServer(
      inTurn(
        json(200, [], { date: 'Sun, 01 Mar 2026 08:00:00 GMT' }),
        nothing(404, { date: 'Sun, 01 Mar 2026 09:00:00 GMT' }),
      ),
    );
    let now = Date.UTC(2030, 0, 1);
    const client = testClient(server.baseUrl, { clock: () => now });
    expect(client.serverNow()).toBe(now);
    await client.listWorkspaces(client.within());
    expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 8));
    now += 5_000;
    expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 8, 0, 5));
    await errorOf(client.listWorkspaces(client.within()));
    expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 9));
  });

  test('is not the older one of a cache, nor one that is none', async () => {
    const server = await startOtherServer(
      inTurn(json(200, [], { date: 'Sun, 01 Mar 2026 08:00:00 GMT', age: '90' }), json(200, [], { date: 'yesterday' })),
    );
    const client = testClient(server.baseUrl);
    await client.listWorkspaces(client.within());
    await client.listWorkspaces(client.within());
    expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 8, 1, 30));
  });
});

describe('an interface that comes to its end', () => {
  test.each([
    [
      {
        deprecation: '@1767225600',
        sunset: 'Wed, 01 Jul 2026 00:00:00 GMT',
        link: '<https://example.com/v2>; rel="deprecation"',
      },
      'is deprecated since 2026-01-01 and ends on Wed, 01 Jul 2026 00:00:00 GMT. See https://example.com/v2',
    ],
    [{ deprecation: 'true' }, 'is deprecated.'],
    [{ deprecation: 'Thu, 01 Jan 2026 00:00:00 GMT' }, 'is deprecated since 2026-01-01.'],
    [
      { sunset: 'Wed, 01 Jul 2026 00:00:00 GMT', link: '<https://example.com/end>; rel=sunset' },
      'ends on Wed, 01 Jul 2026 00:00:00 GMT. See https://example.com/end',
    ],
  ])('is one warning, however often it is said: %j', async (headers, words) => {
    const server = await startOtherServer(json(200, [], headers));
    const client = testClient(server.baseUrl);
    await client.listWorkspaces(client.within());
    await client.listWorkspaces(client.within());
    expect(client.warnings).toEqual([`The service says that this interface ${words}`]);
  });
});
