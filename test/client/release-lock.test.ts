import { describe, expect, test } from 'vitest';
import type { ReleaseLockRequest } from '../../src/client/release-lock.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, problem, raw, reset } from '../support/other-servers/responses.ts';
import { startDecodingProxy, startStrictProxy } from '../support/other-servers/slash-proxies.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import {
  clientOf,
  game,
  hero,
  listing,
  lockPath,
  ofKind,
  start,
  testClient,
  unmarked,
  workspaceId,
} from './test-client.ts';

const locks = '/v1/workspaces/game/locks';
const encoded = `${locks}/Content%2FHero.uasset`;
const segments = `${locks}/Content/Hero.uasset`;
const other = { id: 'l9', path: hero, owner: 'grace', acquired_at: '2026-03-01T07:59:00Z' };
const proof = { etag: '"l1"', id: 'l1' };
const noLock = { detail: 'There is no lock on it.' };

const release = async (answer: Answer, request: Partial<ReleaseLockRequest> = {}, options = {}) => {
  const { server, client } = await clientOf(answer, options);
  const result = await client.releaseLock({ workspace: game, path: hero, ...request }, client.within());
  const releases = server.requests.filter(({ method }) => method === 'DELETE');
  const conditions = releases.map(({ headers }) => headers['if-match']);
  return { result, server, releases, conditions, urls: releases.map(({ url }) => url) };
};

describe('the release of a lock', () => {
  test.each([
    ['the ETag as condition', { etag: '"l1"', id: 'l2' }, '"l1"'],
    ['the ETag as received', { etag: 'l1' }, 'l1'],
    ['an ETag with any characters in its quotes', { etag: '"*, W/"' }, '"*, W/"'],
    ['the quoted id as condition', { id: 'l1' }, '"l1"'],
    ['no condition for an empty proof', {}, undefined],
    ['no condition without a proof', undefined, undefined],
  ])('sends %s', async (_, proof, condition) => {
    const { result, server } = await release(nothing(204), { proof });
    expect(result).toEqual({ kind: 'released' });
    expect(server.requests).toMatchObject([{ method: 'DELETE', url: encoded, body: '' }]);
    expect(server.requests[0]?.headers['if-match']).toBe(condition);
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
  });

  test('is forced only on request', async () => {
    expect((await release(nothing(204), { force: true })).urls).toEqual([`${encoded}?force=true`]);
    expect((await release(nothing(204), { force: false })).urls).toEqual([encoded]);
    const { urls } = await release(nothing(204), { force: true, reason: 'a&b=c d' });
    expect(urls).toEqual([`${encoded}?force=true&reason=a%26b%3Dc+d`]);
  });

  test.each([
    ['204', nothing(204)],
    ['the lock', json(200, { id: 'l1', path: hero })],
    ['the lock in a wrapper', json(200, { lock: { id: 'l1' } })],
  ])('succeeds with a response of %s', async (_, answer) => {
    const { result, server } = await release(answer);
    expect(result.kind).toBe('released');
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['an empty body', nothing(200)],
    ['plain text', raw(200, 'OK')],
    ['other JSON', json(200, { status: 'maintenance' })],
    ['a page', page(200)],
  ])('succeeds with %s only if a list shows that the lock is gone', async (_, answer) => {
    expect((await release(listing([], answer), { proof })).result).toEqual({ kind: 'released' });
    const still = await release(listing([{ ...proof, path: hero }], answer), { proof });
    expect(ofKind(still.result, 'failed').error.attempts).toBe(5);
    const again = await release(listing([{ ...proof, path: hero }], inTurn(answer, nothing(204))), { proof });
    expect(again.result).toEqual({ kind: 'released' });
  });

  test.each(['"a"\r\nX-Other: 1', '', ' ,', '*', '*,', '"a", *', 'W/"a"'])(
    'sends nothing if the ETag cannot identify a lock: %j',
    async (etag) => {
      const { server, client } = await clientOf(nothing(204));
      const request = { workspace: game, path: hero, proof: { etag } };
      await expect(client.releaseLock(request, client.within())).rejects.toThrow('Invalid character in header');
      expect(server.requests).toEqual([]);
    },
  );
});

test.each<[string, Answer, 'absent' | 'released', number]>([
  ['404', problem(404, noLock), 'absent', 1],
  ['410', problem(410, noLock), 'absent', 1],
  ['410 without problem details', nothing(410), 'absent', 1],
  ['a page with 410', page(410), 'absent', 1],
  ['404 with other JSON', json(404, { error: 'not locked' }), 'absent', 2],
  ['404 after too many requests', inTurn(nothing(429), problem(404, noLock)), 'absent', 2],
  ['404 after an unanswered attempt', inTurn(reset, problem(404, noLock)), 'released', 2],
])('after %s, a lock that is not listed is %s', async (_, answer, kind, requests) => {
  const { result, urls } = await release(listing([], answer));
  expect(result).toEqual({ kind });
  expect(urls).toHaveLength(requests);
});

const gatewayAnswers: readonly [string, Answer][] = [
  ['Traefik', raw(404, '404 page not found\n', { 'content-type': 'text/plain; charset=utf-8' })],
  ['nginx', page(404)],
  ['Envoy', nothing(404)],
  ['Kong', json(404, { message: 'no Route matched with those values', request_id: 'f00' })],
  ['AWS', json(403, { message: 'Forbidden' })],
  ['a login', nothing(302, { location: 'https://login.example/' })],
  ['another API with problem details', json(412, { type: 'about:blank', title: 'Precondition Failed', status: 412 })],
];

describe.each(gatewayAnswers)('a response of %s instead of the service', (_, answer) => {
  test('is a transient failure, not an absence, if the list is unavailable', async () => {
    const { result } = await release(answer, { proof });
    expect(ofKind(result, 'failed').error.isTransient).toBe(true);
  });

  test('is retried until the service responds', async () => {
    const { result } = await release(inTurn(answer, answer, answer, nothing(204)), { proof });
    expect(result.kind).toBe('released');
  });

  test('is not a loss while the lock is listed, but is one if another lock is listed', async () => {
    const ours = { ...proof, path: hero, owner: 'ada' };
    expect((await release(listing([ours], answer), { proof })).result.kind).toBe('failed');
    const { result } = await release(listing([other], answer), { proof });
    expect(ofKind(result, 'other').holder?.owner).toBe('grace');
  });
});

test('a 404 of the service about the workspace or the URL does not mean that the lock is absent', async () => {
  const { result } = await release(problem(404, { detail: 'There is no workspace "game" that this token can see.' }));
  expect(ofKind(result, 'failed').error.message).toContain('There is no workspace "game"');
});

test('a 404 of the service means that the lock is absent if the token may not list locks', async () => {
  const { result } = await release((response, request) =>
    problem(request.method === 'GET' ? 403 : 404, noLock)(response, request),
  );
  expect(result.kind).toBe('absent');
});

describe('a lock that was replaced by another one', () => {
  test.each([
    ['a problem with the lock', problem(412, { detail: 'Not that.', lock: other }), 'grace'],
    ['the body itself', problem(412, other), 'grace'],
    ['a problem', problem(412, { detail: 'Not that.' }), undefined],
  ])('is lost, and the other one is left alone: %s', async (_, answer, owner) => {
    const { result, urls } = await release(answer, { proof });
    const lost = ofKind(result, 'other');
    expect(lost.holder?.owner).toBe(owner);
    expect(urls).toHaveLength(1);
  });

  test('counts as released if the other one was taken after an unanswered release', async () => {
    const taken = (time: string) =>
      problem(412, { lock: { ...other, acquired_at: time } }, { date: 'Sun, 01 Mar 2026 08:00:10 GMT' });
    const soon = taken('2026-03-01T08:00:10Z');
    expect((await release(inTurn(reset, taken('2026-03-01T08:00:05Z')), { proof })).result.kind).toBe('other');
    expect((await release(inTurn(reset, soon), { proof })).result.kind).toBe('released');
    expect((await release(soon, { proof })).result.kind).toBe('other');
  });

  const unmatched = problem(412, { detail: 'Not that.' });

  test('may have been released before if a response was lost, and the service does not say when the other was taken', async () => {
    expect((await release(inTurn(reset, unmatched), { proof })).result).toMatchObject({ mayBeDone: true });
    expect((await release(unmatched, { proof })).result).toMatchObject({ mayBeDone: false });
  });

  test.each([
    ['in the second of the release, by a time in whole seconds', '2026-03-01T08:00:09Z', true],
    ['before it, in the same second', '2026-03-01T08:00:09.001Z', false],
    ['in the second before', '2026-03-01T08:00:08Z', false],
  ])('may have been released before if a response was lost, and the other was taken %s', async (_, at, mayBeDone) => {
    // The first attempt came 375 ms before the time of the response.
    const later = problem(412, { lock: { ...other, acquired_at: at } }, { date: 'Sun, 01 Mar 2026 08:00:10 GMT' });
    expect((await release(inTurn(reset, later), { proof })).result).toMatchObject({ kind: 'other', mayBeDone });
    expect((await release(later, { proof })).result).toMatchObject({ kind: 'other', mayBeDone: false });
  });

  test.each<[string, object[], object]>([
    ['counts as released if the path is free', [], { kind: 'released' }],
    [
      'may have been released if another lock without a time is on the path',
      [{ path: hero, owner: 'grace' }],
      { kind: 'other', holder: { owner: 'grace' }, mayBeDone: true },
    ],
    [
      'is lost if an earlier lock is on the path',
      [other],
      { kind: 'other', holder: { owner: 'grace' }, mayBeDone: false },
    ],
    ['may still be there if it is listed', [{ ...other, id: 'l1' }], { kind: 'failed', mayBeDone: true }],
  ])('after a lost response and a 412 that names no holder, %s', async (_, listed, expected) => {
    expect((await release(listing(listed, inTurn(reset, unmatched)), { proof })).result).toMatchObject(expected);
  });

  test('is lost if no response was lost, even if the path is free', async () => {
    expect((await release(listing([], unmatched), { proof })).result.kind).toBe('other');
  });
});

describe('a 412 for a lock with the same id', () => {
  const same = { ...other, id: 'l1' };

  test('is retried with the current ETag of the service', async () => {
    const changed = problem(412, { lock: same }, { etag: '"v2"' });
    const { result, server } = await release(inTurn(changed, nothing(204)), { proof: { id: 'l1' } });
    expect(result.kind).toBe('released');
    expect(server.requests.map(({ headers }) => headers['if-match'])).toEqual(['"l1"', '"v2"']);
  });

  const [acquired_at, later] = ['2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z'];
  test.each([
    ['started with ours, which may have ended', { acquired_at }, true, ['"v1"', '"v2"']],
    ['started later, after ours may have ended', { acquired_at: later }, true, ['"v1"']],
    ['has no start, while ours may have ended', { acquired_at: undefined }, true, ['"v1"']],
    ['has no start, while ours lasts', { acquired_at: undefined }, false, ['"v1"', '"v2"']],
  ])('is retried only for ours, as some services give all locks of a path one id: it %s', async (...row) => {
    const [, start, mayHaveEnded, expected] = row;
    const changed = problem(412, { lock: { ...same, ...start } }, { etag: '"v2"' });
    const own = { proof: { id: 'l1', etag: '"v1"', acquired_at }, mayHaveEnded: () => mayHaveEnded };
    const { result, conditions } = await release(inTurn(changed, nothing(204)), own);
    expect([result.kind, conditions]).toEqual([expected.length > 1 ? 'released' : 'other', expected]);
  });

  test('is neither retried nor a loss if it started later while ours lasts: a renewal may have moved its start', async () => {
    const changed = problem(412, { lock: { ...same, acquired_at: later } }, { etag: '"v2"' });
    const { result, conditions } = await release(changed, { proof: { id: 'l1', etag: '"v1"', acquired_at } });
    expect([result.kind, conditions]).toEqual(['failed', ['"v1"']]);
  });

  test.each(['*', 'W/x'])('is not retried with %s without quotes, which matches other locks, or none', async (etag) => {
    const { conditions } = await release(problem(412, { lock: { ...same, etag } }), { proof });
    expect(conditions).toEqual(['"l1"', `"${etag}"`]);
  });

  test.each([
    ['no ETag', problem(412, { lock: same })],
    ['the ETag that was sent', problem(412, { lock: same }, { etag: '"l1"' })],
  ])('is a failure, not a loss, if it has %s', async (_, answer) => {
    const { result, urls } = await release(answer, { proof });
    expect(ofKind(result, 'failed').error.status).toBe(412);
    expect(urls).toHaveLength(1);
  });
});

describe('a 412 for an ETag whose quotes the service omits', () => {
  test.each(['v1', '"v1"'])('is a failure, not a loss, if it names our own lock with %s', async (etag) => {
    const { result } = await release(json(412, { lock: { path: hero, etag } }), { proof: { etag: 'v1' } }, unmarked);
    expect(ofKind(result, 'failed').error.status).toBe(412);
  });
});

describe('a 412 for an ETag derived from the id', () => {
  const onlyId = { id: 'l1' };
  const unmatched = problem(412, { detail: 'Not that.' });
  const same = { ...other, id: 'l1' };
  const conditional: Answer = (response, request) =>
    (request.headers['if-match'] === undefined ? nothing(204) : unmatched)(response, request);

  test('is followed by a release without a condition if the list has the lock with its id', async () => {
    const { result, releases } = await release(listing([same], conditional), { proof: onlyId });
    expect(result.kind).toBe('released');
    expect(releases.map(({ headers }) => headers['if-match'])).toEqual(['"l1"', undefined]);
  });

  test('leaves alone a lock that is about to expire, because another one may replace it', async () => {
    const ending = { ...same, expires_at: new Date(start + 1_000).toISOString() };
    const { result, urls } = await release(listing([ending], conditional), { proof: onlyId });
    expect(result.kind).toBe('failed');
    expect(urls).toHaveLength(1);
  });

  test('is a loss if another lock is listed, and an absence if none is listed', async () => {
    expect((await release(listing([other], unmatched), { proof: onlyId })).result.kind).toBe('other');
    expect((await release(listing([], unmatched), { proof: onlyId })).result.kind).toBe('absent');
  });
});

test.each([400, 401, 403, 409, 422, 423])('a refusal with %i is a failure', async (status) => {
  const { result } = await release(problem(status, { detail: 'This is not allowed.' }));
  expect(ofKind(result, 'failed').error.message).toContain('This is not allowed');
});

test.each<[string, Answer, boolean]>([
  ['may be done if there was no response', reset, true],
  ['may be done if a gateway answered', page(404), true],
  ['may be done if the service failed', nothing(502), true],
  ['is not done if the service refused it', problem(403, {}), false],
  ['is not done if it was limited', nothing(429), false],
])('a failed release %s', async (_, answer, mayBeDone) => {
  for (const once of [true, false]) {
    const { result } = await release(answer, { proof, once });
    expect(ofKind(result, 'failed').mayBeDone).toBe(mayBeDone);
  }
});

describe('an encoded slash', () => {
  const strictService: Answer = (response, request) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === encoded || pathname === segments) nothing(204)(response, request);
    else listing([], problem(404, { detail: 'There is no such lock.', request_id: 'r' }))(response, request);
  };

  test.each([400, 404, 405, 414])('is sent raw after a proxy rejected it with %s', async (status) => {
    const service = await startOtherServer(strictService);
    const proxy = await startStrictProxy(service.port, status);
    const client = testClient(proxy.baseUrl);
    const request = { workspace: game, path: hero, proof };
    const town = { ...request, path: lockPath('Maps/Town') };
    expect(await client.releaseLock(request, client.within())).toEqual({ kind: 'released' });
    expect(await client.releaseLock(town, client.within())).toEqual({ kind: 'absent' });
    const releases = [encoded, segments, `${locks}/Maps%2FTown`, `${locks}/Maps/Town`];
    expect(proxy.requests.map(({ url }) => url)).toEqual([...releases, `${locks}?path=Maps%2FTown&limit=1000`]);
    expect(service.requests.slice(0, 2).every(({ headers }) => headers['if-match'] === '"l1"')).toBe(true);
  });

  test('is sent encoded again once the gateway that rejected both forms is back', async () => {
    const back: Answer = (response, request) =>
      (request.url.includes('%2F') ? nothing(204) : page(404))(response, request);
    const answer = listing([{ ...other, id: 'l1' }], inTurn(page(404), page(503), back));
    const { result, urls } = await release(answer, { proof });
    expect(result).toEqual({ kind: 'released' });
    expect(urls).toEqual([encoded, segments, encoded]);
  });

  test('may be decoded on the way, and is a failure, not an absence, if the service then refuses the path', async () => {
    const releasing = async (answer: Answer) => {
      const service = await startOtherServer(answer);
      const client = testClient((await startDecodingProxy(service.port)).baseUrl);
      const result = await client.releaseLock({ workspace: game, path: hero }, client.within());
      return { result, urls: service.requests.map(({ url }) => url) };
    };
    expect(await releasing(strictService)).toEqual({ result: { kind: 'released' }, urls: [segments] });
    const { result } = await releasing((response, request) =>
      (request.url === encoded ? nothing(204) : page(400))(response, request),
    );
    expect(ofKind(result, 'failed').error.message).toMatch(/\(DELETE \S+\/Content\/Hero\.uasset: 400 /);
  });

  test.each([
    ['its problem details', problem(404, noLock)],
    ['its problem details', problem(400, noLock)],
  ])('is not sent raw if the service itself responded: %s', async (_, answer) => {
    expect((await release(listing([], answer))).urls).toEqual([encoded]);
  });

  test.each([
    ['a page', page(404)],
    ['an empty body', nothing(404)],
    ['a router with JSON', json(404, { detail: 'Not Found' })],
    ['a gateway with a request id', json(404, { error: 'Not Found', request_id: 'r' })],
    ['a gateway that rejects the path', json(400, { message: 'The path has no file name' })],
  ])('is sent raw if something in between responded: %s', async (_, answer) => {
    const { result, urls } = await release(inTurn(answer, nothing(204)));
    expect(urls).toEqual([encoded, segments]);
    expect(result.kind).toBe('released');
  });

  test('is not retried for a path without slashes', async () => {
    const { urls } = await release(listing([], page(404)), { path: lockPath('a%2Fb') });
    expect(urls).toEqual([`${locks}/a%252Fb`]);
  });
});

test.each(['', '.', '..', 'a/b', '..\\x', 'a\nb', '\ud800', 'x'.repeat(257)])('rejects %j as a workspace', (text) => {
  expect(() => workspaceId(text)).toThrow('A workspace must not');
});
