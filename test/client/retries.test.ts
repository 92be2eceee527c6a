import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import {
  hangUp,
  inTurn,
  json,
  nothing,
  page,
  problem,
  reset,
  truncated,
  truncatedUnseen,
} from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, start, testClient } from './test-client.ts';

const fine = json(200, { workspaces: ['game'] });

describe('an attempt is followed by another', () => {
  test('after a status that passes', async () => {
    const server = await startOtherServer(inTurn(page(503), nothing(503), fine));
    const client = testClient(server.baseUrl);
    expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
    expect(client.sleeps).toEqual([375, 750]);
  });

  test.each([
    ['a reset', reset],
    ['a connection that ends without an answer', hangUp],
    ['an answer that ends too early', truncated(200, '{"workspaces":["ga')],
    ['an answer without a length that ends too early', truncatedUnseen(200, '{"workspaces":["ga')],
    ['a refusal that ends too early', truncated(404, '{"detail":"There is')],
    [
      'an answer that is no HTTP',
      (response: { socket: { end(text: string): void } | null }) => response.socket?.end('ICY 200 OK\r\n\r\n'),
    ],
  ])('after %s', async (_, answer) => {
    const server = await startOtherServer(inTurn(answer, fine));
    const client = testClient(server.baseUrl);
    expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });

  test('and each is told, with its reason', async () => {
    const server = await startOtherServer(inTurn(problem(503, { detail: 'Busy.', request_id: 'req_1' }), fine));
    const client = testClient(server.baseUrl);
    await client.listWorkspaces(client.within());
    expect(client.retries).toEqual([
      {
        method: 'GET',
        path: '/v1/workspaces',
        attempts: 1,
        delayMs: 375,
        reason: 'failed',
        why: 'Busy (GET /v1/workspaces: 503 Service Unavailable, request id req_1).',
      },
    ]);
  });

  test('as often as was said, and the error counts them', async () => {
    const server = await startOtherServer(page(502));
    const client = testClient(server.baseUrl, { retries: 2 });
    const error = await errorOf(client.listWorkspaces(client.within()));
    expect(server.requests).toHaveLength(3);
    expect(error).toMatchObject({ attempts: 3, status: 502, failure: { kind: 'refused' } });
    expect(error.message).toBe(
      '502 Bad Gateway 502 Bad Gateway nginx/1.27.0 (GET /v1/workspaces: 502 Bad Gateway, 3 attempts).',
    );
  });

  test('with waits that grow up to a limit and are never the same', async () => {
    const waits = async (random: number): Promise<readonly number[]> => {
      const server = await startOtherServer(nothing(503));
      const client = testClient(server.baseUrl, { retries: 8, random: () => random });
      await errorOf(client.listWorkspaces(client.within()));
      return client.sleeps;
    };
    expect(await waits(0)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
    expect(await waits(0.999)).toEqual((await waits(0)).map((least) => least * 1.999));
  });
});

test('any other status is an answer, not a reason to ask again', async () => {
  const server = await startOtherServer(nothing(404, { 'retry-after': '1' }));
  const client = testClient(server.baseUrl);
  await errorOf(client.listWorkspaces(client.within()));
  expect(server.requests).toHaveLength(1);
});

describe('Retry-After', () => {
  const sleepsAfter = async (headers: Readonly<Record<string, string>>, status = 429) => {
    const server = await startOtherServer(inTurn(nothing(status, headers), fine));
    const client = testClient(server.baseUrl);
    const { deadline } = client.within();
    await client.listWorkspaces({ deadline });
    return client.sleeps;
  };

  test.each([429, 503])('in seconds is waited for after %i', async (status) => {
    expect(await sleepsAfter({ 'retry-after': '7' }, status)).toEqual([7_125]);
  });

  test('of more seconds than can be counted is a wait for longer than there is time', async () => {
    const server = await startOtherServer(nothing(429, { 'retry-after': '9'.repeat(400) }));
    const client = testClient(server.baseUrl);
    const { message } = await errorOf(client.listWorkspaces(client.within()));
    expect(message).toMatch(/ The service asks to wait for \d+ d \d+ h, and less time is left \(/);
  });

  test('as a date is compared with the clock of the server', async () => {
    const headers = { 'retry-after': 'Sun, 01 Mar 2026 08:00:30 GMT', date: 'Sun, 01 Mar 2026 08:00:00 GMT' };
    expect(await sleepsAfter(headers)).toEqual([30_125]);
  });

  test('as a date is compared with what the server said its time was, where this answer says none', async () => {
    const date = new Date(start + 3_600_000).toUTCString();
    const until = new Date(start + 3_600_000 + 20_000).toUTCString();
    const server = await startOtherServer(
      inTurn(
        nothing(503, { date }),
        (response) => {
          response.sendDate = false;
          response.writeHead(503, { 'retry-after': until }).end();
        },
        fine,
      ),
    );
    const client = testClient(server.baseUrl);
    await client.listWorkspaces(client.within());
    expect(client.sleeps).toEqual([375, 20_000 - 375 + 125]);
  });

  test('that means nothing is ignored', async () => {
    expect(await sleepsAfter({ 'retry-after': 'soon' })).toEqual([375]);
  });

  test('of no time, or of one that is past, does not make a storm', async () => {
    expect(await sleepsAfter({ 'retry-after': '0' })).toEqual([250]);
    expect(await sleepsAfter({ 'retry-after': 'Sun, 01 Mar 2020 08:00:30 GMT' })).toEqual([250]);
  });

  test('beyond the deadline ends the operation at once, and the error says so', async () => {
    const server = await startOtherServer(json(429, { message: 'Slow down' }, { 'retry-after': '600' }));
    const client = testClient(server.baseUrl);
    const error = await errorOf(client.listWorkspaces(client.within(120_000)));
    expect(client.sleeps).toEqual([]);
    expect(server.requests).toHaveLength(1);
    expect(error.failure).toMatchObject({ kind: 'deadline', retryAfterMs: 600_000, last: { status: 429 } });
    expect(error).toMatchObject({ status: 429 });
    expect(error.message).toBe(
      'Slow down. The service asks to wait for 10 min, and less time is left (GET /v1/workspaces: 429 Too Many Requests).',
    );
  });
});

describe('the deadline', () => {
  test('is never slept beyond', async () => {
    const server = await startOtherServer(nothing(503));
    const client = testClient(server.baseUrl, { retries: 100 });
    const { deadline } = client.within(20_000);
    const error = await errorOf(client.listWorkspaces({ deadline }));
    expect(client.clock()).toBeLessThan(deadline);
    expect(error.failure).toMatchObject({
      kind: 'deadline',
      retryAfterMs: undefined,
      last: { kind: 'refused', status: 503 },
    });
    expect(error.message).toMatch(
      /There was no time left to try again \(GET \S+: 503 Service Unavailable, \d attempts\)\.$/,
    );
  });

  test('counts for all pages of a list together', async () => {
    const server = await startOtherServer(
      inTurn(
        json(200, { items: ['a'], next: '1' }, { 'x-n': '1' }),
        nothing(503),
        json(200, { items: ['b'], next: '2' }),
        nothing(503),
      ),
    );
    const client = testClient(server.baseUrl, { retries: 100 });
    const { deadline } = client.within(3_000);
    await errorOf(client.listWorkspaces({ deadline }));
    expect(client.clock()).toBeLessThan(deadline);
  });

  test('that has passed lets nothing be sent', async () => {
    const server = await startOtherServer(fine);
    const client = testClient(server.baseUrl);
    const error = await errorOf(client.listWorkspaces(client.within(0)));
    expect(error).toMatchObject({ attempts: 0, failure: { kind: 'deadline' } });
    expect(error.message).toBe('The service did not answer in time (GET /v1/workspaces).');
    expect(server.requests).toHaveLength(0);
  });
});

describe('a signal', () => {
  test('that was aborted before lets nothing be sent', async () => {
    const server = await startOtherServer(fine);
    const client = testClient(server.baseUrl);
    const error = await errorOf(client.listWorkspaces(client.within(1_000, AbortSignal.abort())));
    expect(error.failure).toEqual({ kind: 'aborted' });
    expect(server.requests).toHaveLength(0);
  });

  test('that is aborted while it waits ends the retries', async () => {
    const server = await startOtherServer(nothing(503));
    const stop = new AbortController();
    const client = testClient(server.baseUrl, { sleep: async () => stop.abort() });
    const error = await errorOf(client.listWorkspaces(client.within(60_000, stop.signal)));
    expect(error.message).toBe('The request was cancelled (GET /v1/workspaces).');
    expect(server.requests).toHaveLength(1);
  });

  test('ends a real sleep at once', async () => {
    const server = await startOtherServer(nothing(503, { 'retry-after': '60' }));
    const stop = new AbortController();
    const client = testClient(server.baseUrl, {
      clock: Date.now,
      sleep: undefined,
      onRetry: () => setImmediate(() => stop.abort()),
    });
    const error = await errorOf(client.listWorkspaces(client.within(120_000, stop.signal)));
    expect(error.failure.kind).toBe('aborted');
  });
});

describe('the Idempotency-Key', () => {
  const post = {
    'start a sync': (client: Client, deadline: number) =>
      client.startSync({ workspace: game, branch: 'main' }, { deadline }),
    'register a hook': (client: Client, deadline: number) =>
      client.registerHook({ workspace: game, url: 'https://ci.example.com/' }, { deadline }),
  };

  test.each(Object.entries(post))(
    'of a request to %s is the same in retries, and another the next time',
    async (_, run) => {
      const again = inTurn(reset, page(502), json(200, { id: '1', status: 'queued' }));
      const server = await startOtherServer(again);
      const client = testClient(server.baseUrl);
      await run(client, client.within().deadline);
      await run(client, client.within().deadline);
      const [first, second, third, fourth] = server.requests.map(({ headers }) => headers['idempotency-key']);
      expect(first).toMatch(/^[\w-]{36}$/);
      expect([second, third]).toEqual([first, first]);
      expect(fourth).not.toBe(first);
      expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
    },
  );

  test('is not sent with what changes nothing', async () => {
    const server = await startOtherServer(fine);
    const client = testClient(server.baseUrl);
    await client.listWorkspaces(client.within());
    expect(server.requests[0]?.headers).not.toHaveProperty('idempotency-key');
  });
});

test('a request says who asks, from where, and for what', async () => {
  const server = await startOtherServer(json(201, { id: 'h' }));
  const origin = 'https://github.example.com/o/r/actions/runs/1/attempts/2';
  const client = testClient(`${server.origin}/api/v1/`, { origin });
  await client.registerHook(
    {
      workspace: game,
      url: 'https://ci.example.com/',
      events: ['lock.released'],
      options: { url: 'x', branches: ['main'] },
    },
    client.within(),
  );
  expect(server.requests).toMatchObject([
    {
      method: 'POST',
      url: '/api/v1/workspaces/game/hooks',
      body: '{"url":"https://ci.example.com/","branches":["main"],"events":["lock.released"]}',
      headers: {
        authorization: 'Bearer wsa_0123456789abcdef0123456789abcdef',
        accept: 'application/json, application/problem+json',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'content-length': '80',
        'user-agent': 'client-test',
        referer: origin,
        host: `127.0.0.1:${server.port}`,
      },
    },
  ]);
});
