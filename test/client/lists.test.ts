import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/client/json.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, raw } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { clientOf, errorOf, game, hero, lockPath, type testClient, unmarked } from './test-client.ts';

type Client = ReturnType<typeof testClient>;

const locksOf = (client: Client) => client.listLocks({ workspace: game }, client.within());

const branchesOf = (client: Client) => client.listBranches({ workspace: game }, client.within());

const resources = [
  ['workspaces', '/v1/workspaces', (client: Client) => client.ask()],
  ['branches', '/v1/workspaces/game/branches', branchesOf],
  ['locks', '/v1/workspaces/game/locks?limit=1000', locksOf],
] as const;

describe.each(resources)('a list of %s', (name, url, list) => {
  const entries = [{ id: 'game', name: 'game', path: 'game', colour: 'red' }];

  test.each<[string, Answer]>([
    ['a bare array', json(200, entries)],
    ['an object with the name of the resource', json(200, { [name]: entries, next_cursor: null })],
    ['an object with items', json(200, { items: entries })],
    ['an object with data', json(200, { data: entries })],
    ['an object with results', json(200, { results: entries, next: null })],
    ['an object in data', json(200, { data: { [name]: entries } })],
    ['a response with a wrong content type', raw(200, JSON.stringify(entries), { 'content-type': 'text/html' })],
  ])('is read from %s, with all unknown fields', async (_, answer) => {
    const { server, client } = await clientOf(answer);
    expect(await list(client)).toMatchObject({ items: [{ raw: entries[0] }], incomplete: undefined });
    expect(server.requests.map((request) => [request.method, request.url])).toEqual([['GET', url]]);
  });

  test('is read from names alone, and reports entries that could not be read', async () => {
    const { client } = await clientOf(json(200, ['one', 'two', 7, null, {}]));
    const { items, incomplete } = await list(client);
    expect(items.map((item) => ('name' in item ? item.name : item.path))).toEqual(['one', 'two']);
    expect(incomplete).toBe(`The list of ${name} may be incomplete: 3 of its entries could not be read.`);
  });

  test.each([
    ['an empty body', nothing(200), 'it is empty'],
    ['a 204', nothing(204), 'it is empty'],
    ['a page', page(200), '(Content-Type: text/html). It starts with: 200 OK nginx'],
    ['text', raw(200, 'all is well'), 'it is not valid JSON. It starts with: all is well'],
    ['another object', json(200, { hello: 1 }), 'It is an object with: hello'],
    ['a number', json(200, 12), 'it contains no list'],
    ['deep nesting', raw(200, '['.repeat(100_000) + ']'.repeat(100_000)), 'it is nested too deeply'],
    ['a compressed body', raw(200, 'x', { 'content-encoding': 'gzip' }), 'it is compressed (gzip)'],
  ])('cannot be read from %s', async (_, answer, words) => {
    const { server, client } = await clientOf(answer);
    const error = await errorOf(list(client));
    expect(error.failure.kind).toBe('unusable');
    expect(error.message).toContain(words);
    // The response may come from a gateway.
    expect(server.requests).toHaveLength(5);
  });
});

describe('the pages of a list', () => {
  const locks = '/v1/workspaces/game/locks';
  const last = json(200, ['b']);

  async function follow(...pages: readonly [Answer, ...Answer[]]) {
    const { server, client } = await clientOf(inTurn(...pages));
    const { items, incomplete } = await locksOf(client);
    return { urls: server.requests.map(({ url }) => url), paths: items.map(({ path }) => path), incomplete };
  }

  const among = '<?x=1>; rel=prev; title="a, <b>; rel=next", <?y=2>; title="c"; rel="last next"';
  const ofTheSameServer: Answer = (response, request) =>
    json(200, { items: ['a'], next: `http://${request.headers.host}${locks}?p=2` })(response, request);

  test.each<[string, Answer, string]>([
    ['Link', json(200, ['a'], { link: `<${locks}?after=a>; rel="next"` }), '?after=a'],
    ['Link with several links', json(200, ['a'], { link: among }), '?y=2'],
    ['next_cursor', json(200, { locks: ['a'], next_cursor: 'a b/ä' }), '?limit=1000&cursor=a+b%2F%C3%A4'],
    ['a numeric next_cursor', json(200, { locks: ['a'], next_cursor: 7 }), '?limit=1000&cursor=7'],
    ['next with a cursor', json(200, { items: ['a'], next: 'abc' }), '?limit=1000&cursor=abc'],
    ['next with a path', json(200, { items: ['a'], next: `${locks}?p=2` }), '?p=2'],
    ['next with a query', json(200, { items: ['a'], next: '?p=2' }), '?p=2'],
    ['next with an absolute URL', ofTheSameServer, '?p=2'],
    ['a cursor in pagination', json(200, { locks: ['a'], pagination: { next_cursor: 'b' } }), '?limit=1000&cursor=b'],
    ['a cursor in meta', json(200, { data: ['a'], meta: { next: 'b' } }), '?limit=1000&cursor=b'],
    ['a link in links', json(200, { data: ['a'], links: { next: '?p=2' } }), '?p=2'],
    ['a link in _links', json(200, { items: ['a'], _links: { next: { href: '?p=2' } } }), '?p=2'],
  ])('are found by %s', async (_, page1, query) => {
    const urls = ['?limit=1000', query].map((each) => locks + each);
    expect(await follow(page1, last)).toEqual({ urls, paths: ['a', 'b'], incomplete: undefined });
  });

  test.each([
    ['null', { locks: ['a'], next_cursor: null }],
    ['an empty string', { locks: ['a'], next_cursor: '', next: '' }],
    ['false', { locks: ['a'], next: false }],
    ['the number of all entries', { locks: ['a'], total: 1, count: 1, page: 1, total_pages: 1, per_page: 1 }],
    ['the number of pages, counted from 0', { locks: ['a'], page: 0, pages: 1, next_page: null }],
  ])('end with %s', async (_, body) => {
    expect((await follow(json(200, body), last)).urls).toHaveLength(1);
  });

  test.each<[string, Json, Readonly<Record<string, string>>?]>([
    ['has_more', { locks: ['a'], meta: { has_more: true } }],
    ['hasNextPage', { locks: ['a'], pageInfo: { hasNextPage: true } }],
    ['total', { locks: ['a'], total: 3, page: 1, per_page: 1 }],
    ['total_count', { locks: ['a'], meta: { total_count: '3' } }],
    ['count', { data: { locks: ['a'], count: 3 } }],
    ['X-Total-Count', ['a'], { 'x-total-count': '3' }],
    ['total_pages', { locks: ['a'], pagination: { page: 1, total_pages: 3 } }],
    ['pages', { locks: ['a'], pages: 2 }],
    ['next_page', { locks: ['a'], next_page: 2 }],
    ['nextPageToken', { locks: ['a'], nextPageToken: 'b' }],
  ])('make the list incomplete if the service announces them by %s only', async (_, body, headers = {}) => {
    const { paths, incomplete } = await follow(json(200, body, headers));
    expect(paths).toEqual(['a']);
    expect(incomplete).toContain('the service has more pages, but does not name the next one.');
  });

  test('are not fetched from another server, and an error is reported', async () => {
    const other = await startOtherServer(last);
    const link = `<${other.origin}${locks}?p=2&secret=1>; rel="next"`;
    const { client } = await clientOf(json(200, ['a'], { link }));
    const error = await errorOf(locksOf(client));
    expect(error.message).toContain(`its next page is on another server, ${other.origin}`);
    expect(other.requests).toHaveLength(0);
  });

  const pageOf = (path: string, next_cursor: string) => json(200, { locks: [path], next_cursor });

  test('end when they link to an earlier page, with the entries read so far', async () => {
    const { paths, urls, incomplete } = await follow(pageOf('a', '1'), pageOf('b', '2'), pageOf('c', '1'));
    expect(urls).toHaveLength(3);
    expect(paths).toEqual(['a', 'b', 'c']);
    expect(incomplete).toBe('The list of locks may be incomplete: the service linked to a page that was already read.');
  });

  test('are not counted twice if the service ignores its own cursors', async () => {
    const { paths, urls, incomplete } = await follow(pageOf('a', '1'));
    expect(urls).toHaveLength(2);
    expect(paths).toEqual(['a']);
    expect(incomplete).toContain('the same page again');
  });

  // Unreadable entries count as well, and are the cheapest.
  const million = `[${'0,'.repeat(300_000)}"a"]`;

  test.each([
    ['a thousand', '["a"]', 1_000, 1_000, 'it has more than 1000 pages'],
    ['64 MiB in total', JSON.stringify(['x'.repeat(9_437_184)]), 8, 7, 'its pages exceed 64 MiB in total'],
    ['a million entries', million, 4, 3, 'it has more than 1000000 entries; 900000 of its entries could not be read'],
  ])('are limited to %s', async (_, body, asked, read, reason) => {
    let n = 0;
    const { server, client } = await clientOf((response, request) => {
      n += 1;
      raw(200, body, { link: `<${locks}?p=${n}>; rel="next"` })(response, request);
    });
    const { items, incomplete } = await locksOf(client);
    expect(server.requests).toHaveLength(asked);
    expect(items).toHaveLength(read);
    expect(incomplete).toBe(`The list of locks may be incomplete: ${reason}.`);
  });
});

describe('a list of the lock on a path', () => {
  const filtered = async (answer: Answer, path: LockPath) => {
    const { server, client } = await clientOf(answer, unmarked);
    const { items } = await client.listLocks({ workspace: game, path }, client.within());
    return { paths: items.map(({ path }) => path), query: server.requests[0]?.url.split('?')[1] };
  };
  const some = json(200, ['Content/Hero.uasset', 'Content/Tree.uasset', 'Maps/A.umap']);

  test('names the path, which is also looked for in the response of a service that ignores it', async () => {
    const query = 'path=Content%2FHero.uasset&limit=1000';
    expect(await filtered(some, hero)).toEqual({ paths: ['Content/Hero.uasset'], query });
  });

  test('finds a path that the service spells with decomposed characters', async () => {
    const path = lockPath('Inhalt/B\u00fchne.uasset');
    expect((await filtered(json(200, ['Inhalt/Bu\u0308hne.uasset']), path)).paths).toEqual([path]);
  });

  test.each([
    ['400 in JSON', json(400, { detail: 'no' })],
    ['422 in JSON', json(422, { detail: 'no' })],
    ['400 as text', raw(400, 'Bad Request')],
    ['422 as a page', page(422)],
  ])('does not name the path to a service that rejects unknown parameters with %s', async (_, refusal) => {
    const refusing: Answer = (response, request) =>
      (request.url.includes('?') ? refusal : json(200, ['a', 'b']))(response, request);
    expect((await filtered(refusing, lockPath('b'))).paths).toEqual(['b']);
  });
});

describe('an entry of a list of locks', () => {
  const read = async (entry: unknown) => {
    const { client } = await clientOf(json(200, [entry]));
    return (await locksOf(client)).items[0];
  };
  const times = { acquired_at: '2026-03-01 12:00:00+01:00', expires_at: 'Sun, 01 Mar 2026 13:00:00 GMT' };
  const [eleven, ended] = ['2026-03-01T11:00:00Z', '2026-03-01T13:00:00'];

  test.each([
    ['the names of this service', { path: 'a', owner: 'ada', acquired_at: eleven, expires_at: `${ended}Z` }],
    ['the columns of the product', { path: 'a', locked_by: 'ada', since: eleven, expires: ended }],
    ['times in seconds', { path: 'a', owner: { name: 'ada' }, locked_at: eleven, expires: 1772370000 }],
    ['times in milliseconds', { path: 'a', user: 'ada', created_at: 1772362800000, expires_at: ended }],
    ['a wrapper', { lock: { path: 'a', owner: 'ada', ...times } }],
    ['data of its own', { path: 'a', owner: 'ada', ...times, data: { color: 'red' } }],
  ])('is read with %s', async (_, entry) => {
    const known = { acquired_at: '2026-03-01T11:00:00.000Z', expires_at: '2026-03-01T13:00:00.000Z' };
    expect(await read(entry)).toMatchObject({ path: 'a', owner: 'ada', ...known });
  });

  test.each<[string, object, object]>([
    ['a numeric id', { id: 17 }, { id: '17' }],
    ['an id beyond the safe integers', { id: 2 ** 60 }, { id: undefined }],
    ['an id that cannot be quoted', { id: 'a"b' }, { id: undefined }],
    ['an ETag without quotes', { etag: 'x' }, { etag: '"x"' }],
    ['an ETag that is not valid in a header', { etag: '"x\r\nX-Other: 1"' }, { etag: undefined }],
    ['a weak ETag', { etag: 'W/"x"' }, { etag: undefined }],
    ['a time in words', { expires_at: 'in 3 days' }, { expires_at: undefined }],
    ['a time with a single digit', { acquired_at: '1' }, { acquired_at: undefined }],
    ['a fence', { fence: 17 }, { fence: 17 }],
    ['a fence that is a string', { fence: '17' }, { fence: 17 }],
    ['a fence beyond the safe integers', { fence: 2 ** 60 }, { fence: undefined }],
    ['a fence string beyond the safe integers', { fence: '9007199254740993' }, { fence: undefined }],
    ['a hexadecimal fence', { fence: '0x11' }, { fence: undefined }],
    ['a negative fraction as fence', { fence: -1.5 }, { fence: undefined }],
    ['a number of seconds until the end', { expires: 3_600 }, { expires_at: undefined }],
    ['a day without a time', { expires_at: '2026-03-01' }, { expires_at: undefined }],
    ['0 for a lock without an end', { expires_at: 0 }, { expires_at: undefined }],
    ['a time out of range', { expires_at: 1e300 }, { expires_at: undefined }],
    ['an owner with a line break', { owner: 'ada\n::error::x\u202e' }, { owner: 'ada ::error::x' }],
    ['a path with a control character', { path: 'a\u0000\nb' }, { path: 'a\ufffd\ufffdb' }],
    ['a member named __proto__', JSON.parse('{"__proto__":{"owner":"eve"}}'), { owner: undefined }],
  ])('is read safely with %s', async (_, members, expected) => {
    expect(await read({ path: 'a', ...members })).toMatchObject(expected);
  });
});
