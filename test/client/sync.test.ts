import { describe, expect, test } from 'vitest';
import { inTurn, json, nothing, page, problem, raw, reset } from '../support/other-servers/answers.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, testClient } from './test-client.ts';

const queued = { sync_id: 's1', status: 'queued', branch: 'main', estimated_objects: 12 };

const begin = async (answer: Answer) => {
  const server = await startOtherServer(answer);
  const client = testClient(server.baseUrl);
  return { server, client, sync: await client.startSync({ workspace: game, branch: 'main' }, client.within()) };
};

describe('a sync that is started', () => {
  test('is asked for with its branch alone', async () => {
    const { server } = await begin(json(202, queued));
    expect(server.requests).toMatchObject([
      { method: 'POST', url: '/v1/workspaces/game/sync', body: '{"branch":"main"}' },
    ]);
  });

  test.each([
    [
      'as the interface has it',
      queued,
      { sync_id: 's1', status: 'queued', state: 'going-on', branch: 'main', estimated_objects: 12 },
    ],
    ['with more fields', { ...queued, lane: 3 }, { raw: { ...queued, lane: 3 } }],
    [
      'in a wrapper',
      { sync: { id: 7, state: 'Pending' } },
      { sync_id: '7', status: 'Pending', state: 'going-on', branch: undefined },
    ],
    [
      'with numbers that are none',
      { ...queued, estimated_objects: '12', received_objects: -1 },
      { estimated_objects: undefined, received_objects: undefined },
    ],
    ['without a status', { sync_id: 's1' }, { status: 'unknown', state: 'going-on' }],
    ['with a status that would break a line', { status: 'a\n::b' }, { status: 'a ::b' }],
  ])('is read %s', async (_, body, expected) => {
    expect((await begin(json(202, body))).sync).toMatchObject(expected);
  });

  test.each([
    ['nothing', nothing(202), 'not-json'],
    ['a page', page(200), 'not-json'],
    ['text', raw(202, 'queued'), 'not-json'],
    ['a list', json(202, []), 'not-understood'],
  ])('is not read from %s', async (_, answer, kind) => {
    const server = await startOtherServer(answer);
    const client = testClient(server.baseUrl);
    const error = await errorOf(client.startSync({ workspace: game, branch: 'main' }, client.within()));
    expect(error.failure.kind).toBe(kind);
  });

  test("of a branch that is not there is refused in the service's words", async () => {
    const server = await startOtherServer(
      problem(422, { errors: [{ pointer: '#/branch', detail: 'There is no branch x.' }] }),
    );
    const client = testClient(server.baseUrl);
    const error = await errorOf(client.startSync({ workspace: game, branch: 'x' }, client.within()));
    expect(error.message).toBe(
      'The service refused the request. branch: There is no branch x (POST /v1/workspaces/game/sync: 422 Unprocessable Entity).',
    );
  });
});

describe('where a sync can be followed', () => {
  test.each([
    ['an absolute path', { location: '/v1/workspaces/game/syncs/s1?x=1' }, {}],
    ['a relative one', { location: 'syncs/s1?x=1' }, {}],
    ['a status_url in the body', {}, { status_url: '/v1/workspaces/game/syncs/s1?x=1' }],
    [
      'a Location elsewhere, but a status_url here',
      { location: 'https://example.com/s1' },
      { status_url: 'syncs/s1?x=1' },
    ],
  ])('is told by %s', async (_, headers, more) => {
    const { client, server, sync } = await begin(
      inTurn(
        json(202, { ...queued, ...more }, { ...headers }),
        json(200, { ...queued, status: 'running', received_objects: 5 }, { 'retry-after': '2' }),
      ),
    );
    if (sync.progress.kind !== 'offered') throw new Error(sync.progress.why);
    expect(await client.syncStatus(sync.progress.address, client.within())).toMatchObject({
      status: 'running',
      state: 'going-on',
      received_objects: 5,
      retryAfterMs: 2_000,
    });
    expect(server.requests[1]).toMatchObject({ method: 'GET', url: '/v1/workspaces/game/syncs/s1?x=1' });
  });

  test('is told by an absolute address of the same server', async () => {
    const { sync } = await begin((response, request) =>
      json(202, queued, { location: `http://${request.headers.host}/s1` })(response, request),
    );
    expect(sync.progress).toEqual({ kind: 'offered', address: '/s1' });
  });

  test.each([
    'https://example.com/v1/syncs/s1?token=1',
    '//example.com/s1',
    'http://127.0.0.1:1/s1',
    'ftp://127.0.0.1/',
    'javascript:alert(1)',
  ])('is not %s, another server', async (location) => {
    const { sync } = await begin(json(202, queued, { location }));
    expect(sync.progress).toEqual({
      kind: 'none',
      why: expect.stringContaining('is another server: the token must not go there.'),
    });
    expect(JSON.stringify(sync.progress)).not.toContain('token=');
  });

  test.each([{}, { location: 'http://[' }])('is not told at all: %j', async (headers) => {
    const { sync } = await begin(json(202, queued, headers));
    expect(sync.progress).toEqual({
      kind: 'none',
      why: 'The service names no address where the sync can be followed.',
    });
  });
});

describe('the words for the state of a sync', () => {
  const stateOf = async (body: object) => (await begin(json(202, body))).sync;

  test.each([
    'succeeded',
    'success',
    'Successful',
    'SYNCED',
    'completed',
    'complete',
    'done',
    'Finished',
    'ok',
    'up-to-date',
  ])('%s is a success', async (status) =>
    expect(await stateOf({ status })).toMatchObject({ status, state: 'succeeded' }),
  );

  test.each([
    'failed',
    'failure',
    'error',
    'Errored',
    'CANCELLED',
    'canceled',
    'aborted',
    'timed out',
    'timeout',
    'rejected',
    'completed-with-errors',
  ])('%s is a failure', async (status) => expect(await stateOf({ status })).toMatchObject({ status, state: 'failed' }));

  test.each(['queued', 'running', 'in_progress', 'fetching', 'waiting for disk', '', 'succeeded?'])(
    '%j goes on',
    async (status) => expect((await stateOf({ sync_id: 's', status })).state).toBe('going-on'),
  );

  test.each([
    [{ status: 'completed', conclusion: 'failure' }, undefined],
    [{ status: 'done', error: 'No such branch\u0007' }, 'No such branch'],
    [{ status: 'finished', error: { message: 'No such branch' } }, 'No such branch'],
    [{ status: 'finished', success: false }, undefined],
  ])('an end that tells of a failure is one: %j', async (body, error) => {
    expect(await stateOf(body)).toMatchObject({ state: 'failed', error });
  });

  test('an error that is null is none', async () => {
    expect(await stateOf({ status: 'done', error: null, result: 'ok' })).toMatchObject({
      state: 'succeeded',
      error: undefined,
    });
  });
});

test('a status is asked for again after a fault', async () => {
  const { client, sync } = await begin(
    inTurn(json(202, queued, { location: '/s1' }), reset, page(502), json(200, { ...queued, status: 'succeeded' })),
  );
  if (sync.progress.kind !== 'offered') throw new Error(sync.progress.why);
  expect((await client.syncStatus(sync.progress.address, client.within())).state).toBe('succeeded');
});
