import { describe, expect, test } from 'vitest';
import { createSanitizer } from '../../src/client/sanitizer.ts';
import { cloneUrlIn, readSync } from '../../src/client/sync.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, problem, raw, reset } from '../support/other-servers/responses.ts';
import { clientOf, errorOf, game } from './test-client.ts';

const queued = { sync_id: 's1', status: 'queued', branch: 'main', estimated_objects: 12 };
const cloneUrl = 'https://assets.example.com/v1/workspaces/game/git';
const main = { workspace: game, branch: 'main' };

const begin = async (answer: Answer) => {
  const { server, client } = await clientOf(answer);
  return { server, client, sync: await client.startSync(main, client.within()) };
};

describe('a sync that is started', () => {
  test('sends only its branch', async () => {
    const { server, sync } = await begin(json(202, { ...queued, lane: 3 }));
    const url = '/v1/workspaces/game/sync';
    expect(server.requests).toMatchObject([{ method: 'POST', url, body: '{"branch":"main"}' }]);
    expect(sync).toMatchObject({ ...queued, state: 'running' });
  });

  test('is read with a numeric `id` and a `state`', async () => {
    const { sync } = await begin(json(202, { id: 7, state: 'Pending', clone_url: cloneUrl }));
    expect(sync).toMatchObject({ sync_id: '7', status: 'Pending', state: 'running', branch: undefined });
    expect(sync.clone_url).toBe(cloneUrl);
  });

  test.each([
    ['an empty body', nothing(202)],
    ['a page', page(200)],
    ['text', raw(202, 'queued')],
    ['a list', json(202, [])],
  ])('is not read from %s', async (_, answer) => {
    const { client } = await clientOf(answer);
    expect((await errorOf(client.startSync(main, client.within()))).failure.kind).toBe('unusable');
  });

  test('fails with the message of the service if the branch is missing', async () => {
    const errors = [{ pointer: '#/branch', detail: 'There is no branch main.' }];
    const { client } = await clientOf(problem(422, { errors }));
    const { message } = await errorOf(client.startSync(main, client.within()));
    expect(message).toContain('branch: There is no branch main (POST /v1/workspaces/game/sync: 422 ');
  });
});

test.each([
  ['https:', cloneUrl, cloneUrl],
  ['http:', cloneUrl, cloneUrl],
  ['http:', 'http://assets.example.com/git', 'http://assets.example.com/git'],
  ['https:', 'http://assets.example.com/git', undefined],
  ['https:', 'https://assets.example.com/a b', 'https://assets.example.com/a%20b'],
  ['https:', 'https://x:secret@assets.example.com/git', undefined],
  ['https:', 'https://token@assets.example.com/git', undefined],
  ['https:', 'ssh://git@assets.example.com/git', undefined],
  ['https:', '/v1/workspaces/game/git', undefined],
  ['https:', `https://assets.example.com/${'a'.repeat(2_100)}`, undefined],
  ['https:', 7, undefined],
])('a service at %s: clone_url %s becomes %s', (protocol, clone_url, expected) => {
  expect(cloneUrlIn({ clone_url }, new URL(`${protocol}//127.0.0.1/v1`))).toBe(expected);
});

describe('the status URL of a sync', () => {
  const here = '/v1/workspaces/game/syncs/s1?x=1';

  test.each<[string, Readonly<Record<string, string>>, object]>([
    ['an absolute path', { location: here }, {}],
    ['a relative path', { location: 'syncs/s1?x=1' }, {}],
    ['a status_url in the body', {}, { status_url: here }],
    ['a status_url here if Location is elsewhere', { location: 'https://a.test/s1' }, { status_url: 'syncs/s1?x=1' }],
  ])('is read from %s', async (_, headers, more) => {
    const running = json(200, { ...queued, status: 'running', received_objects: 5 }, { 'retry-after': '2' });
    const { client, server, sync } = await begin(inTurn(json(202, { ...queued, ...more }, headers), running));
    if (sync.statusTarget === undefined) throw new Error('There is no status URL.');
    expect(await client.syncStatus(sync.statusTarget, client.within())).toMatchObject({
      status: 'running',
      state: 'running',
      received_objects: 5,
      retryAfterMs: 2_000,
    });
    expect(server.requests[1]).toMatchObject({ method: 'GET', url: here });
  });

  test.each([
    'https://example.com/v1/syncs/s1?token=1',
    '//example.com/s1',
    'http://127.0.0.1:1/s1',
    'ftp://127.0.0.1/',
    'javascript:alert(1)',
  ])('is not accepted on another server: %s', async (location) => {
    const { sync } = await begin(json(202, queued, { location }));
    expect(sync.statusTarget).toBeUndefined();
  });

  test.each([{}, { location: 'http://[' }])('is unknown with %j', async (headers) => {
    const { sync } = await begin(json(202, queued, headers));
    expect(sync.statusTarget).toBeUndefined();
  });

  test('is requested again after a failure', async () => {
    const ended = json(200, { ...queued, status: 'succeeded' });
    const { client, sync } = await begin(inTurn(json(202, queued, { location: '/s1' }), reset, page(502), ended));
    if (sync.statusTarget === undefined) throw new Error('There is no status URL.');
    expect((await client.syncStatus(sync.statusTarget, client.within())).state).toBe('succeeded');
  });
});

describe('the status of a sync', () => {
  const read = (body: Parameters<typeof readSync>[0]) => readSync(body, createSanitizer([]));
  const succeeded = ['succeeded', 'SUCCESS', 'complete', 'done', 'Finished', 'ok', 'Synced', 'up-to-date'];
  const failed = ['failed', 'failure', 'error', 'CANCELLED', 'canceled', 'aborted', 'timed out', 'rejected'];
  const goingOn = ['queued', 'running', 'in_progress', 'fetching', 'waiting for disk', 'succeeded?'];

  test.each([
    ['succeeded', succeeded],
    ['failed', failed],
    ['running', goingOn],
  ])('is read as %s from many words', (state, words) => {
    for (const status of words) expect(read({ status })).toMatchObject({ status, state });
  });

  test.each([
    ['invalid numbers', { estimated_objects: '12', received_objects: -1 }, { estimated_objects: undefined }],
    ['no status', { sync_id: 's1' }, { status: 'unknown', state: 'running' }],
    ['a status with a line break', { status: 'a\n::b' }, { status: 'a ::b' }],
    ['an error', { status: 'done', error: 'No branch\u0007' }, { state: 'failed', error: 'No branch' }],
    ['an error in an object', { status: 'done', error: { message: 'No' } }, { state: 'failed', error: 'No' }],
    ['a null error', { status: 'done', error: null, result: 'ok' }, { state: 'succeeded', error: undefined }],
  ])('is read from a response with %s', (_, body, expected) => {
    expect(read(body)).toMatchObject(expected);
  });
});
