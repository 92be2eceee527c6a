import { describe, expect, test, vi } from 'vitest';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, problem, raw, reset, truncated } from '../support/other-servers/responses.ts';
import {
  clientOf,
  game,
  hero,
  listing,
  lockPath,
  ofKind,
  start,
  stopTime,
  ttl,
  unanswered,
  unmarked,
  workspaceId,
} from './test-client.ts';

const request = { workspace: game, path: hero, type: 'exclusive', ttl: ttl('1h'), idempotencyKey: 'key-1' };

const acquire = async (answer: Answer, options: Parameters<typeof clientOf>[1] = {}, asked = {}) => {
  const { server, client } = await clientOf(answer, options);
  const result = await client.acquireLock({ ...request, ...asked }, client.within());
  return { result, server, client };
};

const granted = json(201, { id: 'l1', path: hero });

const date = { date: 'Sun, 01 Mar 2026 08:00:00 GMT' };

describe('the request for a lock', () => {
  test('has three members and the idempotency key', async () => {
    const { server } = await acquire(granted);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/v1/workspaces/game/locks',
        body: '{"path":"Content/Hero.uasset","type":"exclusive","ttl":"1h"}',
        headers: { 'idempotency-key': 'key-1' },
      },
    ]);
  });

  const stated = { id: 'l1', etag: '"l1"', owner: 'ada', expires_at: '2026-03-01T09:00:00.000Z' };
  const ours = { id: 'l1', path: hero, owner: 'ada', expires_at: '2026-03-01T09:00:00.000Z', fence: 7 };
  /** With a `type` that is not a lock type, as in JSON:API. */
  const other = { path: '/content/hero.uasset', type: 'locks' };
  /** One hour after the response. */
  const computed = { expires_at: '2026-03-01T09:00:00.000Z' };

  test.each([
    ['201 with the lock', json(201, ours, { etag: '"l1"' }), { ...stated, raw: ours }],
    ['200 with the lock in a wrapper', json(200, { lock: ours }, { etag: '"l1"' }), { ...stated, raw: ours }],
    ['202 with the lock in data', json(202, { data: ours }, { etag: '"l1"' }), stated],
    ['an ETag in the body', json(201, { ...ours, etag: '"l1"' }), stated],
    ['an ETag other than the id', json(201, ours, { etag: '"v-9"' }), { ...stated, etag: '"v-9"' }],
    ['an ETag without quotes', json(201, ours, { etag: 'v9' }), { ...stated, etag: 'v9' }],
    ['a weak ETag, as many frameworks send', json(201, ours, { etag: 'W/"5"' }), { ...stated, etag: undefined }],
    ['201 without a body', nothing(201, date), { ...computed, id: undefined, etag: undefined, type: 'exclusive' }],
    ['204', nothing(204, date), { ...computed, raw: {} }],
    ['another spelling of the path', json(201, other), { path: hero, type: 'exclusive' }],
  ])('acquires the lock with a response of %s', async (_, answer, lock) => {
    const { result, server } = await acquire(answer, unmarked);
    expect(ofKind(result, 'acquired')).toMatchObject({ lock: { path: hero, ...lock } });
    expect(server.requests).toHaveLength(1);
  });

  test('acquires the lock for at most its ttl from the request if the service returns no expiry', async () => {
    const later = json(201, { id: 'l1' }, { date: 'Sun, 01 Mar 2026 08:01:00 GMT' });
    const { result } = await acquire(inTurn(nothing(503, { 'retry-after': '60' }), later), { random: () => 0 });
    expect(ofKind(result, 'acquired').lock.expires_at).toBe('2026-03-01T09:00:00.000Z');
  });

  test('counts the ttl from the first request with the key, whose response may have been lost', async () => {
    const firstSentAt = Date.parse(date.date) - 600_000;
    const { result } = await acquire(json(201, { id: 'l1' }, date), {}, { firstSentAt: () => firstSentAt });
    expect(ofKind(result, 'acquired').lock.expires_at).toBe('2026-03-01T08:50:00.000Z');
  });

  test('acquires the lock for its ttl on the local clock if the server sends no time at all', async () => {
    const { result } = await acquire((response) => {
      response.sendDate = false;
      response.writeHead(201).end();
    }, unmarked);
    expect(ofKind(result, 'acquired').lock.expires_at).toBe(new Date(start + 3_600_000).toISOString());
  });

  test('names exactly the given workspace, and the unchanged path', async () => {
    const path = lockPath('Ä b/#?%2F&+.uasset');
    const { server } = await acquire(granted, {}, { workspace: workspaceId('a?b#c %2F..ä'), path });
    expect(server.requests[0]?.url).toBe('/v1/workspaces/a%3Fb%23c%20%252F..%C3%A4/locks');
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ path });
  });
});

describe.each([409, 423])('a path held by another job, reported with %i', (status) => {
  const known = { owner: 'grace', expires_at: '2026-03-01T14:05:00.000Z' };
  const holder = { id: 'l0', path: hero, origin: 'https://ci/runs/1', ...known };
  const locked = { type: 'urn:workspace-automation:problem:locked', detail: 'Held.', lock: holder };
  const grace = { owner: 'grace', type: undefined };

  test.each<[string, Answer, object | undefined, number?]>([
    ['a problem with the lock', problem(status, locked, { 'retry-after': '9' }), holder, 9_000],
    ['a list of locks', json(status, { locks: [holder] }), known],
    ['the body itself', json(status, { message: 'Held', ...known }), { ...known, path: hero, type: undefined }],
    ['a body that is problem details', problem(status, { type: 'https://x/locked', owner: 'grace' }), grace],
    ['the name of the holder', json(status, { error: 'locked', locked_by: 'grace' }), grace],
    ['a holder with a name', json(status, { holder: { name: 'grace' } }), grace],
    ['a problem without the lock', problem(status, { detail: 'Held.' }, { 'retry-after': '30' }), undefined, 30_000],
  ])('is recognized at once from %s', async (_, answer, its, retryAfterMs) => {
    const { result, client } = await acquire(answer, unmarked);
    const held = ofKind(result, 'held');
    expect(held).toMatchObject({ mayBeDone: false, error: { status, failure: { retryAfterMs } } });
    if (its === undefined) expect(held.holder).toBeUndefined();
    else expect(held.holder).toMatchObject(its);
    expect(client.sleeps).toEqual([]);
  });
});

const htmlPage = page(409);

const anyHeld: readonly [string, Answer][] = [
  ['text only', json(409, { message: 'Somebody has it' })],
  ['an HTML page', htmlPage],
  ['an empty body', nothing(409)],
  ['an empty list', json(409, { locks: [] })],
];

describe.each(anyHeld)('a 409 without the marks of the service: %s', (_, answer) => {
  test('means that the path is held, after one request, if the service has never shown its marks', async () => {
    const { result, server } = await acquire(answer, unmarked);
    const isFromService = server.requests.length === 1;
    expect(isFromService).toBe(answer !== htmlPage);
    expect(result).toMatchObject(isFromService ? { kind: 'held' } : { kind: 'failed', mayBeDone: true });
  });

  test('means that the path is held if the list has a holder', async () => {
    const held = { path: hero, owner: 'grace' };
    const { result, client } = await acquire(listing([held], answer));
    expect(ofKind(result, 'held')).toMatchObject({ mayBeDone: false, holder: held });
    expect(client.sleeps).toEqual([]);
  });

  test('is retried with the same key, and ends as unanswered if the list is unavailable', async () => {
    const { result } = await acquire(inTurn(answer, answer, answer, granted));
    expect(result.kind).toBe('acquired');
    expect(unanswered((await acquire(answer)).result).error.attempts).toBe(5);
  });
});

describe('a 200 with a lock', () => {
  const at = (time: string) => json(200, { id: 'l0', path: hero, acquired_at: `2026-03-01T08:00:${time}Z` }, date);

  test('counts as held by another job if the lock is older than the request, even with the same owner', async () => {
    const earlier = json(200, { id: 'l0', path: hero, acquired_at: '2026-03-01T07:59:56Z' }, date);
    expect(ofKind((await acquire(earlier)).result, 'held')).toMatchObject({ mayBeDone: false, holder: { id: 'l0' } });
  });

  test('counts as acquired if the lock is newer than the request', async () => {
    expect((await acquire(at('00'))).result.kind).toBe('acquired');
  });

  test('counts as acquired if the lock is newer than the first request with its key', async () => {
    const later = { date: 'Sun, 01 Mar 2026 08:01:00 GMT' };
    const answer = json(200, { id: 'l0', path: hero, acquired_at: '2026-03-01T08:00:10Z' }, later);
    const firstSentAt = Date.parse('2026-03-01T08:00:09Z');
    expect((await acquire(answer, {}, { firstSentAt: () => firstSentAt })).result.kind).toBe('acquired');
    expect((await acquire(answer, {}, { firstSentAt: () => firstSentAt + 10_000 })).result.kind).toBe('held');
  });
});

describe('a request that is still running', () => {
  const inProgress = { type: 'urn:workspace-automation:problem:request-in-progress', detail: 'Wait.' };
  const running = problem(409, inProgress, { 'retry-after': '1' });

  test('is retried with the same key, for longer than the retries would last', async () => {
    const seven = Array.from({ length: 6 }, () => running);
    const { result, server, client } = await acquire(inTurn(running, ...seven, granted), { retries: 1 });
    ofKind(result, 'acquired');
    expect(client.sleeps).toHaveLength(7);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['key-1']));
  });

  test('ends as unanswered at the deadline', async () => {
    const { result, client } = await acquire(running);
    expect(unanswered(result).error.failure).toMatchObject({ kind: 'deadline', status: 409 });
    expect(client.clock()).toBeLessThan(start + 120_000);
  });

  test('is not confused with a response that has a holder', async () => {
    const { result } = await acquire(inTurn(reset, json(409, { owner: 'grace' }, { 'retry-after': '2' })), unmarked);
    expect(ofKind(result, 'held')).toMatchObject({ mayBeDone: true, holder: { owner: 'grace' } });
  });
});

describe('a lost response', () => {
  test.each([
    ['a reset', reset, 'connection'],
    ['a page of a proxy', page(504), 'refused'],
    ['a truncated response', truncated(201, '{"id":'), 'connection'],
    ['no response', () => void vi.advanceTimersByTime(1_000), 'timeout'],
  ])('(%s) ends as unanswered if all attempts fail', async (_, lost, kind) => {
    stopTime();
    const { result, server } = await acquire(lost, { retries: 2, requestTimeoutMs: 1_000 });
    expect(unanswered(result).error).toMatchObject({ attempts: 3, failure: { kind } });
    expect(server.requests).toHaveLength(3);
  });

  test('ends as unanswered if a later attempt is refused', async () => {
    const { result } = await acquire(inTurn(reset, problem(401, { detail: 'The token was revoked.' })));
    expect(unanswered(result).error.status).toBe(401);
  });

  test('is unanswered if the request was aborted, but failed if nothing was sent', async () => {
    const stop = new AbortController();
    const { client } = await clientOf(() => stop.abort());
    const stopped = await client.acquireLock(request, client.within(60_000, stop.signal));
    expect(unanswered(stopped).error.failure.kind).toBe('aborted');
    const unsent = await client.acquireLock(request, client.within(60_000, stop.signal));
    expect(ofKind(unsent, 'failed').mayBeDone).toBe(false);
  });
});

describe('a lock that blocks a repeated request', () => {
  const run = 'https://ci.example.com/runs/1';
  const firstSentAt = Date.parse(date.date) - 60_000;
  const timeAfter = (ms: number) => new Date(firstSentAt + ms).toISOString();
  const since = timeAfter(1_000);

  async function mayBeDone(origin: string | undefined, lock: object): Promise<boolean> {
    const held = json(409, { lock: { id: 'lock', owner: 'grace', ...lock } }, date);
    const { result } = await acquire(held, { ...unmarked, origin }, { firstSentAt: () => firstSentAt });
    return ofKind(result, 'held').mayBeDone;
  }

  test.each<[string, string | undefined, object]>([
    ['of the same run, acquired since the first request', run, { origin: run, acquired_at: since }],
    ['of unknown origin, on a service that keeps none', run, { acquired_at: since }],
    ['of a run, if this one has no address', undefined, { origin: run, acquired_at: since }],
    ['of unknown time', run, { origin: run }],
    ['acquired just before, by a clock that may be off', run, { origin: run, acquired_at: timeAfter(-100) }],
  ])('may be its result: %s', async (_, origin, lock) => {
    expect(await mayBeDone(origin, lock)).toBe(true);
  });

  test.each<[string, object]>([
    ['of another run', { origin: 'https://ci.example.com/runs/2', acquired_at: since }],
    ['of the same run, acquired before the first request', { origin: run, acquired_at: timeAfter(-60_000) }],
  ])('is not its result: %s', async (_, lock) => {
    expect(await mayBeDone(run, lock)).toBe(false);
  });
});

test.each([
  ['a rejection', problem(422, { detail: 'No such type.' })],
  ['a redirect', nothing(308, { location: 'https://example.com/' })],
])('a lock is not acquired after %s', async (_, answer) => {
  const { result, server } = await acquire(answer);
  expect(ofKind(result, 'failed')).toMatchObject({ mayBeDone: false, error: { failure: { kind: 'refused' } } });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['a 303', nothing(303, { location: '/v1/locks/1' }), 'refused'],
  ['a redirect to a login page', nothing(302, { location: 'https://login.example/' }), 'refused'],
  // A captive portal shows this page before it allows access.
  ['a page with status 200', raw(200, '<!DOCTYPE html><title>Sign in</title>'), 'unusable'],
  ['a plain text', raw(200, 'OK'), 'unusable'],
  ['an empty 200', nothing(200), 'unusable'],
  ['an empty list', json(200, []), 'unusable'],
  ['other JSON', json(201, { status: 'maintenance' }), 'unusable'],
  ['a page with status 404', page(404), 'refused'],
  ['JSON with status 403', json(403, { message: 'Forbidden' }), 'refused'],
] as const)('%s that is not from the service is retried, and ends as unanswered', async (_, answer, failure) => {
  const { result, server } = await acquire(answer);
  expect(unanswered(result).error.failure.kind).toBe(failure);
  expect(server.requests).toHaveLength(5);
  expect((await acquire(inTurn(answer, granted))).result.kind).toBe('acquired');
});

test('a service without marks is believed only until it has shown its marks, which is remembered', async () => {
  const kept: string[] = [];
  const marks = { read: () => false, write: () => kept.push('marks') };
  const own = json(201, { id: 'l1', path: hero, fence: 1, expires_at: '2026-03-01T13:00:00Z' }, { etag: '"l1"' });
  const forbidden = json(403, { message: 'Forbidden' });
  const { client, server } = await clientOf(inTurn(forbidden, own, forbidden), { marks });
  const requests = async () => {
    const before = server.requests.length;
    const { kind, ...result } = await client.acquireLock(request, client.within());
    const isUnanswered = 'mayBeDone' in result && result.mayBeDone;
    return [isUnanswered ? 'unanswered' : kind, server.requests.length - before];
  };
  expect(await requests()).toEqual(['failed', 1]);
  expect([await requests(), kept]).toEqual([['acquired', 1], ['marks']]);
  expect([await requests(), kept]).toEqual([['unanswered', 5], ['marks']]);
});

test('a lease is held only with all of its locks', async () => {
  const lease = { lease: 'l'.repeat(16), paths: [hero, lockPath('a')], count: 2 } as const;
  const put = async (locks: unknown) => {
    const { client } = await clientOf(json(201, { id: lease.lease, state: 'held', locks }));
    return (await client.putLease({ ...request, ...lease }, client.within())).kind;
  };
  expect(await put([{ path: hero }, { path: 'a' }])).toBe('held');
  for (const locks of [undefined, [{ path: hero }], [{ path: hero }, { path: '' }]]) {
    expect(await put(locks)).toBe('failed');
  }
});

test('no error quotes a response with the items of a pool, which have secrets', async () => {
  const pool = { lease: 'l'.repeat(16), paths: [], pool: { name: 'seats', where: {} }, count: 1 } as const;
  for (const answer of [raw(201, '{"locks":[{"serial":"s3cret"'), json(201, { locks: [{ s3cret: 's3cret' }] })]) {
    const { client } = await clientOf(answer, { retries: 0 });
    const { error } = ofKind(await client.putLease({ ...request, ...pool }, client.within()), 'failed');
    expect(error.message).toContain('The response cannot be used');
    expect(error.message).not.toContain('s3cret');
  }
});
