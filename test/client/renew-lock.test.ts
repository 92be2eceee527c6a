import { describe, expect, test } from 'vitest';
import type { RenewLockRequest, RenewLockResult } from '../../src/client/post-lock.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, problem, raw, reset, truncated } from '../support/other-servers/responses.ts';
import { clientOf, game, hero, listing, ofKind, ttl, unmarked } from './test-client.ts';

const both = { id: 'l1', etag: '"v1"' };

async function renew(answer: Answer, request: Partial<RenewLockRequest> = {}, options = {}) {
  const { server, client } = await clientOf(answer, options);
  const whole = { workspace: game, path: hero, type: 'exclusive', ttl: ttl('5m'), idempotencyKey: 'k', proof: both };
  const result = await client.renewLock({ ...whole, ...request }, client.within());
  const sent = (name: string) => server.requests.map(({ headers }) => headers[name]);
  return { result, requests: server.requests, conditions: sent('if-match'), keys: sent('idempotency-key') };
}

/** Distinguishes a refusal of the service from a call that gave up. */
const kindOf = (result: RenewLockResult) =>
  result.kind === 'failed' && result.response !== undefined ? 'refused' : result.kind;

const lock = { id: 'l1', path: hero, owner: 'ada', expires_at: '2026-03-01T12:05:00Z' };
const grace = { ...lock, id: 'l9', owner: 'grace' };

test.each([
  ['its ETag', both, '"v1"'],
  ['its ETag as the service sent it', { etag: 'v1' }, 'v1'],
  ['its id, in quotes', { id: 'l1' }, '"l1"'],
])('a lock is renewed on the condition of %s', async (_, proof, condition) => {
  const { result, requests, conditions, keys } = await renew(json(200, lock), { proof });
  expect(result).toMatchObject({ kind: 'renewed', lock: { id: 'l1', expires_at: '2026-03-01T12:05:00.000Z' } });
  expect(requests).toMatchObject([{ method: 'POST', url: '/v1/workspaces/game/locks' }]);
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ path: hero, type: 'exclusive', ttl: '5m' });
  expect([conditions, keys]).toEqual([[condition], ['k']]);
});

test('a lock without ETag and id cannot be renewed', async () => {
  await expect(renew(nothing(200), { proof: {} })).rejects.toThrow(
    'The lock on Content/Hero.uasset has neither id nor ETag.',
  );
});

describe('renewLock', () => {
  const date = { date: 'Sun, 01 Mar 2026 12:00:10 GMT' };

  test.each<[string, Answer, object]>([
    ['the same id', json(200, lock), both],
    ['the same id and status 201', json(201, lock), both],
    ['a changed ETag', json(200, lock, { etag: '"v2"' }), { id: 'l1', etag: '"v2"' }],
    ['a changed ETag and no id', json(200, { path: hero }, { etag: '"v2"' }), { id: 'l1', etag: '"v2"' }],
    ['no body', nothing(204, date), { ...both, expires_at: '2026-03-01T12:05:10.000Z' }],
  ])('renews a lock with %s', async (_, answer, expected) => {
    expect((await renew(answer, {}, unmarked)).result).toMatchObject({ kind: 'renewed', lock: expected });
  });

  test('keeps an ETag without quotes as the header had it, if the response has it in the body', async () => {
    for (const status of [200, 201]) {
      const { result } = await renew(json(status, { path: hero, etag: 'v1' }), { proof: { etag: 'v1' } }, unmarked);
      expect(result).toMatchObject({ kind: 'renewed', lock: { etag: 'v1' } });
    }
  });

  test.each<[string, Answer, RenewLockRequest['proof'], boolean]>([
    ['with another id', json(200, grace), both, false],
    ['with another id that is older', json(200, { ...grace, acquired_at: '2026-03-01T12:00:09Z' }, date), both, false],
    ['with another id that is new', json(200, { ...grace, acquired_at: '2026-03-01T12:00:10Z' }, date), both, true],
    ['created with another ETag, without ids', json(201, { path: hero }, { etag: '"v2"' }), { etag: '"v1"' }, true],
  ])('reports a lock %s as replaced, and whether it is new', async (_, answer, proof, isNew) => {
    expect((await renew(answer, { proof })).result).toMatchObject({ kind: 'replaced', isNew });
  });

  const words = { detail: 'Not that.' };
  test.each([
    ['began in the second of the request, by a time in whole seconds', '2026-03-01T12:00:09Z', true],
    ['began earlier in that second', '2026-03-01T12:00:09.001Z', false],
    ['began a second earlier', '2026-03-01T12:00:08Z', false],
  ])('reports whether a lock is new that %s', async (_, acquired_at, isNew) => {
    // The first attempt came half a second before the time of the response.
    const answer = json(200, { ...grace, acquired_at }, date);
    const limited = problem(429, words);
    expect((await renew(inTurn(limited, answer))).result).toMatchObject({ kind: 'replaced', isNew });
    // Another job may have acquired it after that attempt.
    expect((await renew(inTurn(reset, answer))).result).toMatchObject({ kind: 'replaced', isNew: false });
  });

  test.each<[string, Answer, ReturnType<typeof kindOf>, owner?: string]>([
    ['a 412', problem(412, words), 'lost'],
    ['a 412 with the holder', problem(412, { ...words, lock: grace }), 'lost', 'grace'],
    ['a 403 with the holder', problem(403, { ...words, lock: grace }), 'lost', 'grace'],
    ['a 409 with the holder', problem(409, { ...words, lock: grace }), 'refused'],
    ['a 422', problem(422, words), 'refused'],
    ['a 405', problem(405, words), 'refused'],
    ['a 401', problem(401, words), 'refused'],
  ])('reports the lock after %s as %s', async (_, answer, kind, owner) => {
    const { result, requests } = await renew(answer);
    expect(kindOf(result)).toBe(kind);
    if (result.kind === 'lost') expect(result.holder?.owner).toBe(owner);
    expect(requests).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['403', problem(403, words)],
    ['404', problem(404, words)],
    ['410', problem(410, words)],
  ])('reports the lock after a %s without holder as lost only if a list shows that it is gone', async (_, answer) => {
    expect(kindOf((await renew(answer)).result)).toBe('refused');
    expect(kindOf((await renew(listing([lock], answer))).result)).toBe('refused');
    expect(kindOf((await renew(listing([], answer))).result)).toBe('lost');
    expect(ofKind((await renew(listing([grace], answer))).result, 'lost').holder?.owner).toBe('grace');
  });

  test.each<[string, Answer]>([
    ['a page with 404', page(404)],
    ['an empty 404', nothing(404)],
    ['JSON with 404', json(404, { message: 'no Route matched with those values' })],
    ['a page with 412', page(412)],
    ['a page with 401', page(401)],
    ['a page with 200', page(200)],
    ['plain text with 200', raw(200, 'OK')],
  ])('retries a response that may come from a gateway, and never reports a loss: %s', async (_, answer) => {
    const again = await renew(inTurn(answer, answer, answer, json(200, lock)));
    expect(again.result.kind).toBe('renewed');
    const failed = ofKind((await renew(answer)).result, 'failed');
    expect(failed.error.isTransient).toBe(true);
    expect(ofKind((await renew(listing([lock], answer))).result, 'failed').error.attempts).toBe(5);
  });

  test('reports a loss if the list shows that the lock is gone, even after a response of a gateway', async () => {
    expect(kindOf((await renew(listing([], page(404)))).result)).toBe('lost');
    expect(kindOf((await renew(listing([], page(401)))).result)).toBe('failed');
  });

  test.each<[string, Answer]>([
    ['a 503', problem(503, words)],
    ['a 429', nothing(429)],
    ['a lost connection', reset],
    ['a truncated response', truncated(200, '{"id":')],
  ])('retries with the same key after %s, and fails if that persists', async (_, answer) => {
    const again = await renew(inTurn(answer, answer, json(200, lock)));
    expect(again.result.kind).toBe('renewed');
    expect(again.keys).toEqual(['k', 'k', 'k']);
    // The attempts end at the deadline, even if the service limits the rate of requests.
    expect(ofKind((await renew(answer)).result, 'failed').error.attempts).toBeGreaterThan(4);
  });
});

describe('a 412 for a lock with the same id', () => {
  const same = (etag?: string): Answer => problem(412, { lock }, etag === undefined ? {} : { etag });

  test('is retried with the current ETag of the service, with a new key', async () => {
    const { result, conditions, keys } = await renew(inTurn(reset, same('"v2"'), json(200, lock, { etag: '"v3"' })));
    expect(ofKind(result, 'renewed').lock).toMatchObject({ id: 'l1', etag: '"v3"' });
    expect(conditions).toEqual(['"v1"', '"v1"', '"v2"']);
    expect(new Set(keys).size).toBe(2);
  });

  test('is a loss if it started later, unless an earlier renewal without a response may have moved its start', async () => {
    const [acquired_at, later] = ['2026-03-01T07:00:00Z', '2026-03-01T08:00:00Z'];
    const moved = problem(412, { lock: { ...lock, acquired_at: later } }, { etag: '"v2"' });
    const own = { proof: { ...both, acquired_at } };
    expect(kindOf((await renew(moved, { ...own, mayHaveChanged: false })).result)).toBe('lost');
    const answer = inTurn(moved, json(200, lock, { etag: '"v3"' }));
    expect(kindOf((await renew(answer, { ...own, mayHaveChanged: true })).result)).toBe('renewed');
    const over = { ...own, mayHaveChanged: true, mayHaveEnded: () => true };
    expect(kindOf((await renew(moved, over)).result)).toBe('lost');
  });

  test.each([same(), same('"v1"')])('is a refusal, not a loss', async (answer) => {
    const { result, conditions } = await renew(answer);
    expect(kindOf(result)).toBe('refused');
    expect(conditions).toHaveLength(1);
  });

  test('is a loss if the own id was never known', async () => {
    expect(kindOf((await renew(same('"v2"'), { proof: { etag: '"v1"' } })).result)).toBe('lost');
  });

  test('is a loss for an ETag derived from the id only if a list shows it', async () => {
    const unmatched = problem(412, { detail: 'Not that.' });
    const onlyId = { proof: { id: 'l1' } };
    expect(kindOf((await renew(unmatched, onlyId)).result)).toBe('refused');
    expect(kindOf((await renew(listing([lock], unmatched), onlyId)).result)).toBe('refused');
    expect(kindOf((await renew(listing([grace], unmatched), onlyId)).result)).toBe('lost');
  });
});
