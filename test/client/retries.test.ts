import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
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
} from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { clientOf, errorOf, game, realTime, start, testClient, token } from './test-client.ts';

const fine = json(200, { workspaces: ['game'] });

describe('a retry', () => {
  test('follows a transient status, with an increasing pause', async () => {
    const { server, client } = await clientOf(inTurn(page(503), nothing(503), fine));
    expect((await client.ask()).items).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
    expect(client.sleeps).toEqual([375, 750]);
  });

  test.each<[string, Answer]>([
    ['a reset', reset],
    ['a connection that ends without a response', hangUp],
    ['a truncated response', truncated(200, '{"workspaces":["ga')],
    ['a truncated response without a length', truncatedUnseen(200, '{"workspaces":["ga')],
    ['a truncated rejection', truncated(404, '{"detail":"There is')],
    ['a response that is not HTTP', (response) => response.socket?.end('ICY 200 OK\r\n\r\n')],
  ])('follows %s', async (_, answer) => {
    const { server, client } = await clientOf(inTurn(answer, fine));
    expect((await client.ask()).items).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });

  test('is reported with its reason', async () => {
    const { client } = await clientOf(inTurn(problem(503, { detail: 'Busy.', request_id: 'req_1' }), fine));
    await client.ask();
    const reason = 'Busy (GET /v1/workspaces: 503 Service Unavailable, request id req_1).';
    expect(client.retries).toEqual([{ delayMs: 375, reason }]);
  });

  test('happens up to the given number of times, and the error counts the attempts', async () => {
    const { server, client } = await clientOf(page(502), { retries: 2 });
    const error = await errorOf(client.ask());
    expect(server.requests).toHaveLength(3);
    expect(error).toMatchObject({ attempts: 3, status: 502, failure: { kind: 'refused' } });
    expect(error.message).toBe('502 Bad Gateway nginx/1.27.0 (GET /v1/workspaces: 502 Bad Gateway, 3 attempts).');
  });
});

describe('Retry-After', () => {
  test.each<[string, Answer, number]>([
    ['is respected in seconds after 429', nothing(429, { 'retry-after': '7' }), 7_125],
    ['is respected in seconds after 503', nothing(503, { 'retry-after': '7' }), 7_125],
    ['is ignored if it is invalid', nothing(429, { 'retry-after': 'soon' }), 375],
    ['does not cause a retry storm if it is zero', nothing(429, { 'retry-after': '0' }), 250],
  ])('%s', async (_, answer, slept) => {
    const { client } = await clientOf(inTurn(answer, fine));
    await client.ask();
    expect(client.sleeps).toEqual([slept]);
  });

  test('is compared as a date with the last known server time if the response has none', async () => {
    const until = new Date(start + 3_600_000 + 20_000).toUTCString();
    const { client } = await clientOf(
      inTurn(
        nothing(503, { date: new Date(start + 3_600_000).toUTCString() }),
        (response) => {
          response.sendDate = false;
          response.writeHead(503, { 'retry-after': until }).end();
        },
        fine,
      ),
    );
    await client.ask();
    expect(client.sleeps).toEqual([375, 20_000 - 375 + 125]);
  });

  test.each([
    [
      'is beyond the deadline',
      '600',
      /^Slow down\. The service asked to wait 10 min, longer than the time left \(GET /,
    ],
    ['exceeds all limits', '9'.repeat(400), /The service asked to wait \d+ d \d+ h, longer than the time/],
  ])('ends the operation at once if it %s, and the error says so', async (_, seconds, message) => {
    const { server, client } = await clientOf(json(429, { message: 'Slow down' }, { 'retry-after': seconds }));
    const error = await errorOf(client.ask());
    expect(client.sleeps).toEqual([]);
    expect(server.requests).toHaveLength(1);
    expect(error).toMatchObject({ status: 429, failure: { kind: 'deadline' } });
    expect(error.message).toMatch(message);
  });
});

test('a Retry-After beyond the deadline is ignored if there is no later chance', async () => {
  const { client } = await clientOf(inTurn(nothing(503, { 'retry-after': '600' }), fine));
  await client.listWorkspaces({ ...client.within(), isLastChance: true });
  expect(client.sleeps).toEqual([375]);
});

describe('the deadline', () => {
  test('is never exceeded by a pause', async () => {
    const { client } = await clientOf(nothing(503), { retries: 100 });
    const error = await errorOf(client.ask(20_000));
    expect(client.clock()).toBeLessThan(start + 20_000);
    expect(error.failure).toMatchObject({ kind: 'deadline', retryAfterMs: undefined, status: 503 });
    expect(error.message).toContain('There was no time left to try again. The log of the service has the cause (');
  });

  test('applies to all pages of a list together', async () => {
    const pageOf = (next: string) => json(200, { items: [next], next });
    const { client } = await clientOf(inTurn(pageOf('1'), nothing(503), pageOf('2'), nothing(503)), { retries: 100 });
    await errorOf(client.ask(3_000));
    expect(client.clock()).toBeLessThan(start + 3_000);
  });

  test('prevents all requests if it has passed', async () => {
    const { server, client } = await clientOf(fine);
    const error = await errorOf(client.ask(0));
    expect(error).toMatchObject({ attempts: 0, failure: { kind: 'deadline' } });
    expect(error.message).toMatch(/^The service did not answer in time\. Check that it is running/);
    expect(server.requests).toHaveLength(0);
  });
});

test('an abort signal ends a pause and all retries at once', async () => {
  const stop = new AbortController();
  const { server, client } = await clientOf(nothing(503, { 'retry-after': '60' }), {
    ...realTime,
    onRetry: () => setImmediate(() => stop.abort()),
  });
  const { message } = await errorOf(client.ask(120_000, stop.signal));
  expect(message).toBe('The request was cancelled (GET /v1/workspaces).');
  expect(server.requests).toHaveLength(1);
});

const url = 'https://ci.example.com/';

test.each<[string, (client: Client, deadline: number) => Promise<unknown>]>([
  ['start a sync', (client, deadline) => client.startSync({ workspace: game, branch: 'main' }, { deadline })],
  ['register a hook', (client, deadline) => client.registerHook({ workspace: game, url }, { deadline })],
])(
  'the Idempotency-Key stays the same in retries of a request to %s, and changes for the next call',
  async (_, run) => {
    const { server, client } = await clientOf(inTurn(reset, page(502), json(200, { id: '1', status: 'queued' })));
    for (const _each of [1, 2]) await run(client, client.within().deadline);
    const [first, second, third, fourth] = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[\w-]{36}$/);
    expect([second, third]).toEqual([first, first]);
    expect(fourth).not.toBe(first);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  },
);

test('a request has the token, the user agent and the run URL in its headers', async () => {
  const server = await startOtherServer(json(201, { id: 'h' }));
  const origin = 'https://github.example.com/o/r/actions/runs/1/attempts/2';
  const client = testClient(`${server.origin}/api/v1/`, { origin });
  const options = { url: 'x', branches: ['main'] };
  const hook = { workspace: game, url: 'https://ci.example.com/', events: ['lock.released'], options };
  await client.registerHook(hook, client.within());
  expect(server.requests).toMatchObject([
    {
      method: 'POST',
      url: '/api/v1/workspaces/game/hooks',
      body: '{"url":"https://ci.example.com/","branches":["main"],"events":["lock.released"]}',
      headers: {
        authorization: `Bearer ${token}`,
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
