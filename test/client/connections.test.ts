import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { unanswered } from '../../src/client/service-error.ts';
import { leaveOut } from '../support/left-out.ts';
import { freePort } from '../support/listen.ts';
import { inTurn, json, nothing, silence, stuck } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { clientOf, errorOf, game, lockPath, realTime, start, stopTime, testClient, ttl } from './test-client.ts';

const fine = json(200, ['game']);

describe('the timeout of an attempt', () => {
  const limitMs = 30_000;
  const reason = 'The service did not answer within 30 s (GET /v1/workspaces).';
  const passLimit = (): void => void vi.advanceTimersByTime(limitMs);

  test('ends an attempt without a response, and a retry follows', async () => {
    stopTime();
    const { client } = await clientOf(inTurn(passLimit, fine), { requestTimeoutMs: limitMs });
    expect((await client.ask()).items).toHaveLength(1);
    expect(client.retries).toMatchObject([{ reason }]);
  });

  test('ends an attempt whose response never finishes, and a retry follows', async () => {
    stopTime();
    const begun = 'http.client.response.finish';
    // Only the first response times out.
    const passLimitOnce = (): void => {
      unsubscribe(begun, passLimitOnce);
      passLimit();
    };
    subscribe(begun, passLimitOnce);
    onTestFinished(() => void unsubscribe(begun, passLimitOnce));
    const { client } = await clientOf(inTurn(stuck(200, '["ga'), fine), { requestTimeoutMs: limitMs });
    expect((await client.ask()).items).toHaveLength(1);
    expect(client.retries).toMatchObject([{ reason }]);
  });

  test('starts when a connection is free', async () => {
    stopTime();
    const waiting: ServerResponse[] = [];
    // Four rounds of sixteen requests take longer than the limit, but each round takes less.
    const answer = (response: ServerResponse): void => {
      waiting.push(response);
      if (waiting.length < 16) return;
      vi.advanceTimersByTime(limitMs / 2);
      for (const one of waiting.splice(0)) one.end('[]');
    };
    const { server, client } = await clientOf(answer, { requestTimeoutMs: limitMs });
    await Promise.all(Array.from({ length: 64 }, () => client.ask()));
    expect(client.retries).toEqual([]);
    expect(server.requests).toHaveLength(64);
  });
});

test('the deadline ends running attempts and requests that still wait for a connection', async () => {
  stopTime();
  let arrived = 0;
  const answer = (): void => {
    arrived += 1;
    if (arrived === 16) void vi.advanceTimersByTimeAsync(20_000);
  };
  const { server, client } = await clientOf(answer, { ...realTime, clock: () => Date.now() });
  const errors = await Promise.all(Array.from({ length: 20 }, () => errorOf(client.ask(20_000))));
  const failure = unanswered('deadline', 'The service', 'in time');
  expect(errors.map((error) => error.failure)).toEqual(errors.map(() => failure));
  expect(errors.map(({ attempts }) => attempts)).toEqual(errors.map((_, index) => (index < 16 ? 1 : 0)));
  expect(server.requests).toHaveLength(16);
});

test('a deadline or timeout that exceeds the range of timers is treated as infinite', async () => {
  const { client } = await clientOf((response) => void setTimeout(() => response.end('["game"]'), 20), {
    requestTimeoutMs: 1e12,
  });
  for (const ms of [1e12, Number.POSITIVE_INFINITY]) expect((await client.ask(ms)).items).toHaveLength(1);
  expect(client.retries).toEqual([]);
});

test('keeps and reuses connections, and never opens more than sixteen', async () => {
  const { server, client } = await clientOf((response) => setImmediate(() => response.writeHead(204).end()));
  const requests = Array.from({ length: 300 }, (_, n) =>
    client.releaseLock({ workspace: game, path: lockPath(`f${n}`) }, client.within()),
  );
  expect(new Set((await Promise.all(requests)).map(({ kind }) => kind))).toEqual(new Set(['released']));
  expect(server.requests).toHaveLength(300);
  expect(server.connections).toEqual({ opened: 16, mostAtOnce: 16 });
});

test('requests that pause before their next attempt delay no other', async () => {
  const stop = new AbortController();
  const { client } = await clientOf(
    (response, request) => nothing(request.url.endsWith('/free') ? 204 : 503)(response, request),
    { sleep: (_, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve())) },
  );
  const release = (path: string, signal?: AbortSignal) =>
    client.releaseLock({ workspace: game, path: lockPath(path) }, client.within(120_000, signal));
  const failing = Array.from({ length: 16 }, (_, n) => release(`f${n}`, stop.signal));
  expect(await release('free')).toEqual({ kind: 'released' });
  stop.abort();
  await Promise.all(failing);
});

describe('an abort signal', () => {
  test('ends a request in progress, and its connection', async () => {
    const stop = new AbortController();
    let cut: Promise<void> | undefined;
    const { client } = await clientOf((response) => {
      cut = new Promise((resolve) => response.on('close', () => resolve()));
      stop.abort();
    }, realTime);
    expect((await errorOf(client.ask(60_000, stop.signal))).failure.kind).toBe('aborted');
    await cut;
  });

  test('removes waiting requests from the queue, so that the next one is sent', async () => {
    const waiting: ServerResponse[] = [];
    const { client } = await clientOf((response) => waiting.push(response));
    const busy = Array.from({ length: 16 }, () => client.ask());
    const stop = new AbortController();
    const gone = Array.from({ length: 16 }, () => errorOf(client.ask(60_000, stop.signal)));
    const next = client.ask();
    stop.abort();
    for (const error of await Promise.all(gone)) {
      expect(error).toMatchObject({ attempts: 0, failure: { kind: 'aborted' } });
    }
    await expect.poll(() => waiting).toHaveLength(16);
    for (const response of waiting.splice(0)) response.end('[]');
    await Promise.all(busy);
    await expect.poll(() => waiting).toHaveLength(1);
    waiting[0]?.end('["game"]');
    expect((await next).items).toHaveLength(1);
  });
});

test('a disposed client ends requests in progress, and sends no more', async () => {
  const { server, client } = await clientOf(silence, realTime);
  const pending = errorOf(client.ask());
  await expect.poll(() => server.requests).toHaveLength(1);
  client.dispose();
  expect((await pending).failure.kind).toBe('aborted');
  expect((await errorOf(client.ask())).failure.kind).toBe('aborted');
  expect(server.requests).toHaveLength(1);
});

test('retries an unreachable server, and reports the reason and that no lock can have been granted', async () => {
  const port = await freePort();
  const client = testClient(`http://127.0.0.1:${port}/v1`);
  const error = await errorOf(client.ask());
  expect(error.failure.kind).toBe('connection');
  expect(error.message).toContain('nothing is listening on its host and port (connect ECONNREFUSED 127.0.0.1:');
  const request = { workspace: game, path: lockPath('a'), type: 'exclusive', ttl: ttl('1h'), idempotencyKey: 'k' };
  for (const [firstSentAt, mayBeDone] of [[undefined, false] as const, [Date.now, true] as const]) {
    const result = await client.acquireLock({ ...request, firstSentAt }, client.within());
    expect(result).toMatchObject({ kind: 'failed', mayBeDone });
  }
});

test('connects to an IPv6 address', async (context) => {
  const server = await startOtherServer(fine, { host: '::1' }).catch(() => undefined);
  if (server === undefined) return leaveOut(context, 'This machine has no IPv6.');
  expect((await testClient(server.baseUrl).ask()).items).toHaveLength(1);
  expect(server.requests[0]?.headers.host).toBe(`[::1]:${server.port}`);
});

test('the server clock follows the date of the last response of any status, and advances with the local clock', async () => {
  let now = start;
  const eight = json(200, [], { date: 'Sun, 01 Mar 2026 08:00:00 GMT' });
  const nine = nothing(404, { date: 'Sun, 01 Mar 2026 09:00:00 GMT' });
  const { client } = await clientOf(inTurn(eight, nine), { clock: () => now });
  expect(client.serverNow()).toBe(now);
  await client.ask();
  expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 8));
  now += 5_000;
  expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 8, 0, 5));
  await errorOf(client.ask());
  expect(client.serverNow()).toBe(Date.UTC(2026, 2, 1, 9));
});

const sunset = 'Wed, 01 Jul 2026 00:00:00 GMT';

test.each<[string, Readonly<Record<string, string>>]>([
  ['is deprecated.', { deprecation: 'true' }],
  [`is deprecated, and ends on ${sunset}. See https://a.test/`, { sunset, link: '<https://a.test/>; rel=sunset' }],
  ['is deprecated. See https://a.test/', { deprecation: '@1767225600', link: '<https://a.test/>; rel="deprecation"' }],
])('an interface with an end date is reported in one warning: it %s', async (words, headers) => {
  const { client } = await clientOf(json(200, [], headers));
  await client.ask();
  await client.ask();
  expect(client.warnings).toEqual([`The service says that this API ${words}`]);
});
