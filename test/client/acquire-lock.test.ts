import { describe, expect, test } from 'vitest';
import {
  hangUp,
  inTurn,
  json,
  nothing,
  page,
  problem,
  raw,
  reset,
  silence,
  truncated,
} from '../support/other-servers/answers.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { game, hero, lockPath, ofKind, start, testClient, ttl, workspaceId } from './test-client.ts';

const request = { workspace: game, path: hero, type: 'exclusive', ttl: ttl('1h'), idempotencyKey: 'key-1' };

const acquire = async (answer: Answer, options: Parameters<typeof testClient>[1] = {}, asked = {}) => {
  const server = await startOtherServer(answer);
  const client = testClient(server.baseUrl, options);
  const result = await client.acquireLock({ ...request, ...asked }, client.within());
  return { result, server, client };
};

const date = { date: 'Sun, 01 Mar 2026 08:00:00 GMT' };

describe('a lock is taken', () => {
  test('with a request of three members, and the key', async () => {
    const { server } = await acquire(nothing(201));
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/v1/workspaces/game/locks',
        body: '{"path":"Content/Hero.uasset","type":"exclusive","ttl":"1h"}',
        headers: { 'idempotency-key': 'key-1' },
      },
    ]);
  });

  const stated = { id: 'l1', etag: '"l1"', owner: 'ada', expires_at: '2026-03-01T09:00:00.000Z', expiry: 'stated' };
  const ours = { id: 'l1', path: hero, owner: 'ada', expires_at: '2026-03-01T09:00:00.000Z', fence: 7 };

  test.each([
    ['201 with the lock', json(201, ours, { etag: '"l1"' }), { ...stated, raw: ours }],
    ['200 with the lock in a wrapper', json(200, { lock: ours }, { etag: '"l1"' }), { ...stated, raw: ours }],
    ['202 with the lock in data', json(202, { data: ours }, { etag: '"l1"' }), stated],
    ['an ETag in the body', json(201, { ...ours, etag: '"l1"' }), stated],
    ['another ETag than the id', json(201, ours, { etag: '"v-9"' }), { ...stated, etag: '"v-9"' }],
    ['an ETag without quotes', json(201, ours, { etag: 'v9' }), { ...stated, etag: 'v9' }],
    [
      'a weak ETag, which a framework puts on everything',
      json(201, ours, { etag: 'W/"5f-x"' }),
      { ...stated, etag: undefined },
    ],
    [
      'nothing but the status',
      nothing(201, date),
      { id: undefined, etag: undefined, type: 'exclusive', expiry: 'computed' },
    ],
    ['204', nothing(204, date), { expires_at: '2026-03-01T09:00:00.000Z', expiry: 'computed', raw: {} }],
    ['a word', raw(200, 'OK', date), { expires_at: '2026-03-01T09:00:00.000Z', expiry: 'computed' }],
    ['true', json(200, true, date), { expires_at: '2026-03-01T09:00:00.000Z', expiry: 'computed' }],
    [
      'when it was taken',
      json(201, { created_at: '2026-03-01T07:30:00Z' }, date),
      { expires_at: '2026-03-01T08:30:00.000Z', expiry: 'computed' },
    ],
    [
      'another spelling of the path',
      json(201, { path: '/content/hero.uasset', type: 'shared' }),
      { path: hero, type: 'shared' },
    ],
  ])('by an answer of %s', async (_, answer, lock) => {
    const { result, server } = await acquire(answer);
    expect(ofKind(result, 'acquired')).toMatchObject({ replayed: false, lock: { path: hero, ...lock } });
    expect(server.requests).toHaveLength(1);
  });

  test.each(['idempotency-replayed', 'idempotent-replayed'])('and %s says that it was before', async (name) => {
    const { result } = await acquire(json(201, ours, { [name]: 'true' }));
    expect(ofKind(result, 'acquired').replayed).toBe(true);
  });

  test('until no later than its ttl after the request set out, when the service does not say until when', async () => {
    const { result } = await acquire(
      inTurn(nothing(503, { 'retry-after': '60' }), nothing(201, { date: 'Sun, 01 Mar 2026 08:01:00 GMT' })),
      {
        random: () => 0,
      },
    );
    expect(ofKind(result, 'acquired').lock.expires_at).toBe('2026-03-01T09:00:00.000Z');
  });

  test('until its ttl has passed by our clock, when the server tells no time at all', async () => {
    const { result } = await acquire((response) => {
      response.sendDate = false;
      response.writeHead(201).end();
    });
    expect(ofKind(result, 'acquired').lock.expires_at).toBe(new Date(start + 3_600_000).toISOString());
  });

  test('in no workspace but the one that is meant', async () => {
    const { server } = await acquire(nothing(201), {}, { workspace: workspaceId('a?b#c %2F..ä') });
    expect(server.requests[0]?.url).toBe('/v1/workspaces/a%3Fb%23c%20%252F..%C3%A4/locks');
  });
});

const holder = {
  id: 'l0',
  path: hero,
  owner: 'grace',
  origin: 'https://ci/runs/1',
  expires_at: '2026-03-01T14:05:00.000Z',
};
const known = { owner: 'grace', expires_at: '2026-03-01T14:05:00.000Z' };

describe.each([409, 423])('a path that is held, by %i', (status) => {
  test.each([
    [
      'a problem with the lock',
      problem(
        status,
        { type: 'urn:workspace-automation:problem:locked', detail: 'Held.', lock: holder },
        { 'retry-after': '9' },
      ),
      { holder: { ...known, id: 'l0', path: hero, origin: 'https://ci/runs/1' }, retryAfterMs: 9_000 },
    ],
    ['a list of locks', json(status, { locks: [holder] }), { holder: known, retryAfterMs: undefined }],
    ['a lock in the error', json(status, { error: { message: 'Held', lock: holder } }), { holder: known }],
    [
      'the body itself',
      json(status, { message: 'Held', owner: 'grace', expires_at: '2026-03-01T14:05:00Z' }),
      { holder: { ...known, path: hero, type: undefined } },
    ],
    [
      'the body itself, a problem',
      problem(status, { type: 'https://x/locked', owner: 'grace' }),
      { holder: { owner: 'grace', type: undefined } },
    ],
    ['the name of the holder', json(status, { error: 'locked', locked_by: 'grace' }), { holder: { owner: 'grace' } }],
    ['a holder with a name', json(status, { holder: { name: 'grace' } }), { holder: { owner: 'grace' } }],
    ['words', json(status, { message: 'Somebody has it' }), { holder: undefined }],
    ['a page', page(status), { holder: undefined }],
    ['nothing', nothing(status, { 'retry-after': '30' }), { holder: undefined, retryAfterMs: 30_000 }],
    ['an empty list', json(status, { locks: [] }), { holder: undefined }],
  ])('is told from %s, at once', async (_, answer, expected) => {
    const { result, client } = await acquire(answer);
    const held = ofKind(result, 'held');
    expect(held).toMatchObject({ mayBeOurs: false, ...expected, error: { status } });
    expect(client.sleeps).toEqual([]);
  });
});

describe('a request that is still running', () => {
  const ours = problem(
    409,
    { type: 'urn:workspace-automation:problem:request-in-progress', detail: 'Wait.' },
    { 'retry-after': '1' },
  );

  test('is waited for with the same key', async () => {
    const { result, server } = await acquire(inTurn(ours, nothing(201)));
    ofKind(result, 'acquired');
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['key-1', 'key-1']);
  });

  test('is waited for longer than the retries would last', async () => {
    const { result, client } = await acquire(inTurn(ours, ours, ours, ours, ours, ours, ours, nothing(201)), {
      retries: 1,
    });
    ofKind(result, 'acquired');
    expect(client.sleeps).toHaveLength(7);
  });

  test('beyond the deadline is unclear', async () => {
    const { result, client } = await acquire(ours);
    expect(ofKind(result, 'unclear').error.failure).toMatchObject({ kind: 'deadline', last: { status: 409 } });
    expect(client.clock()).toBeLessThan(start + 120_000);
  });

  const wordless = nothing(409, { 'retry-after': '2' });

  test('is recognised without words after a lost answer, or when the key was sent before', async () => {
    ofKind((await acquire(inTurn(reset, wordless, nothing(201)))).result, 'acquired');
    const { result } = await acquire(inTurn(wordless, nothing(201)), {}, { keySentBefore: true });
    ofKind(result, 'acquired');
  });

  test('is not what a holder is', async () => {
    const { result } = await acquire(inTurn(reset, json(409, { owner: 'grace' }, { 'retry-after': '2' })));
    expect(ofKind(result, 'held')).toMatchObject({ mayBeOurs: true, holder: { owner: 'grace' } });
  });
});

describe('a lost answer', () => {
  test.each([
    ['a reset', reset],
    ['a hang-up', hangUp],
    ['a page of a proxy', page(502)],
    ['half an answer', truncated(201, '{"id":')],
  ])('(%s) is asked for again with the same key', async (_, lost) => {
    const { result, server } = await acquire(inTurn(lost, json(201, { id: 'l1' }, { 'idempotency-replayed': 'true' })));
    expect(ofKind(result, 'acquired')).toMatchObject({ replayed: true, lock: { id: 'l1' } });
    expect(new Set(server.requests.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1);
  });

  test.each([
    ['a reset', reset, 'connection'],
    ['a page of a proxy', page(504), 'refused'],
    ['half an answer', truncated(201, '{"id":'), 'connection'],
  ])('(%s) that stays lost is unclear', async (_, lost, kind) => {
    const { result, server } = await acquire(lost);
    expect(ofKind(result, 'unclear').error).toMatchObject({ attempts: 5, failure: { kind } });
    expect(server.requests).toHaveLength(5);
  });

  test('(silence) that stays lost is unclear', async () => {
    const { result } = await acquire(silence, { requestTimeoutMs: 20, retries: 1 });
    expect(ofKind(result, 'unclear').error).toMatchObject({ attempts: 2, failure: { kind: 'timeout', limitMs: 20 } });
  });

  test('before a refusal leaves unclear what it did', async () => {
    const { result } = await acquire(inTurn(reset, problem(401, { detail: 'The token was revoked.' })));
    expect(ofKind(result, 'unclear').error.status).toBe(401);
  });

  test('before a holder: that can be ourselves', async () => {
    const { result } = await acquire(inTurn(page(502), json(423, { owner: 'ada' })));
    expect(ofKind(result, 'held').mayBeOurs).toBe(true);
  });

  test('because of a signal is unclear', async () => {
    const stop = new AbortController();
    const server = await startOtherServer(() => stop.abort());
    const client = testClient(server.baseUrl);
    const result = await client.acquireLock(request, client.within(60_000, stop.signal));
    expect(ofKind(result, 'unclear').error.failure.kind).toBe('aborted');
  });

  test('because of a signal is none when nothing was sent', async () => {
    const { result } = await acquire(nothing(201), { token: 'a\nb' });
    expect(ofKind(result, 'failed').error.failure.kind).toBe('unsendable');
    const server = await startOtherServer(nothing(201));
    const client = testClient(server.baseUrl);
    ofKind(await client.acquireLock(request, client.within(60_000, AbortSignal.abort())), 'failed');
  });
});

describe('a lock is not taken', () => {
  test.each([
    ['a refusal', problem(422, { detail: 'No such type.' }), 'refused'],
    ['a redirect', nothing(308, { location: 'https://example.com/' }), 'redirected'],
  ])('by %s', async (_, answer, kind) => {
    const { result, server } = await acquire(answer);
    expect(ofKind(result, 'failed').error.failure.kind).toBe(kind);
    expect(server.requests).toHaveLength(1);
  });

  test('by too many requests', async () => {
    const { result } = await acquire(nothing(429), { retries: 2 });
    expect(ofKind(result, 'failed').error).toMatchObject({ status: 429, failure: { kind: 'deadline' } });
  });

  test('for sure by a page that says 200, which a portal shows before it lets anybody out', async () => {
    const { result } = await acquire(raw(200, '<!DOCTYPE html><title>Sign in</title>'));
    expect(ofKind(result, 'unclear').error.failure).toMatchObject({ kind: 'not-json', excerpt: 'Sign in' });
  });

  test('for sure by a 303, which follows what was done', async () => {
    const { result } = await acquire(nothing(303, { location: '/v1/locks/1' }));
    expect(ofKind(result, 'unclear').error.failure.kind).toBe('redirected');
  });
});

test('a path with every kind of character is sent as it is', async () => {
  const path = lockPath('Ä b/#?%2F&+.uasset');
  const { server } = await acquire(nothing(201), {}, { path });
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ path });
});
