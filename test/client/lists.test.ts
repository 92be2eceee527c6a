import { describe, expect, test } from 'vitest';
import { inTurn, json, nothing, page, raw } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, hero, lockPath, testClient } from './test-client.ts';

const entries = [{ id: 'game', name: 'game', path: 'game', colour: 'red' }];

const resources = [
  { name: 'workspaces', url: '/v1/workspaces' },
  { name: 'branches', url: '/v1/workspaces/game/branches' },
  { name: 'locks', url: '/v1/workspaces/game/locks?limit=1000' },
] as const;

const list = (client: ReturnType<typeof testClient>, name: (typeof resources)[number]['name']) => {
  switch (name) {
    case 'workspaces':
      return client.listWorkspaces(client.within());
    case 'branches':
      return client.listBranches({ workspace: game }, client.within());
    case 'locks':
      return client.listLocks({ workspace: game }, client.within());
  }
};

describe.each(resources)('a list of $name', ({ name, url }) => {
  test.each([
    ['a bare array', entries],
    ['an object with the name of the resource', { [name]: entries, next_cursor: null }],
    ['an object with items', { items: entries }],
    ['an object with data', { data: entries }],
    ['an object with results', { results: entries, next: null }],
    ['an object in data', { data: { [name]: entries } }],
  ])('is read from %s, with the fields that nobody knows', async (_, body) => {
    const server = await startOtherServer(json(200, body));
    const { items, incomplete } = await list(testClient(server.baseUrl), name);
    expect(items).toMatchObject([{ raw: entries[0] }]);
    expect(incomplete).toBeUndefined();
    expect(server.requests.map((request) => [request.method, request.url])).toEqual([['GET', url]]);
  });

  test('is read from bare names', async () => {
    const server = await startOtherServer(json(200, ['one', 'two']));
    const { items } = await list(testClient(server.baseUrl), name);
    expect(items.map((item) => ('name' in item ? item.name : item.path))).toEqual(['one', 'two']);
  });

  test('is read whatever the answer says its type is', async () => {
    const server = await startOtherServer(raw(200, JSON.stringify(entries), { 'content-type': 'text/html' }));
    expect((await list(testClient(server.baseUrl), name)).items).toHaveLength(1);
  });

  test('says when some of its entries could not be read', async () => {
    const server = await startOtherServer(json(200, [...entries, 7, null, {}]));
    const { items, incomplete } = await list(testClient(server.baseUrl), name);
    expect(items).toHaveLength(1);
    expect(incomplete).toBe(`The list of ${name} may not be whole: 3 of its entries could not be read.`);
  });

  test.each([
    ['nothing', nothing(200), 'not-json', 'it is empty'],
    ['nothing at all', nothing(204), 'not-json', 'it is empty'],
    ['a page', page(200), 'not-json', '(its type is said to be text/html). It begins with: 200 OK 200 OK nginx'],
    ['text', raw(200, 'all is well'), 'not-json', 'it is not valid JSON. It begins with: all is well'],
    ['another object', json(200, { hello: 1 }), 'not-understood', 'It begins with: an object with hello'],
    ['a number', json(200, 12), 'not-understood', 'there is no list in it'],
    ['deep nesting', raw(200, '['.repeat(100_000) + ']'.repeat(100_000)), 'not-json', 'it nests too deep'],
    ['something compressed', raw(200, 'x', { 'content-encoding': 'gzip' }), 'not-json', 'it is compressed (gzip)'],
  ])('is not read from %s', async (_, answer, kind, words) => {
    const server = await startOtherServer(answer);
    const error = await errorOf(list(testClient(server.baseUrl), name));
    expect(error.failure.kind).toBe(kind);
    expect(error.message).toContain(words);
    expect(server.requests).toHaveLength(1);
  });
});

const first = '/v1/workspaces/game/locks?limit=1000';

describe('the pages of a list', () => {
  const follow = async (...pages: readonly [ReturnType<typeof json>, ...ReturnType<typeof json>[]]) => {
    const server = await startOtherServer(inTurn(...pages));
    const client = testClient(server.baseUrl);
    const locks = await client.listLocks({ workspace: game }, client.within());
    return { urls: server.requests.map(({ url }) => url), paths: locks.items.map(({ path }) => path), locks };
  };
  const last = json(200, ['b']);

  test.each([
    ['Link', json(200, ['a'], { link: '</v1/workspaces/game/locks?after=a>; rel="next"' }), '?after=a'],
    [
      'Link among others',
      json(200, ['a'], { link: '<?x=1>; rel=prev; title="a, <b>; rel=next", <?y=2>; title="c"; rel="last next"' }),
      '?y=2',
    ],
    ['next_cursor', json(200, { locks: ['a'], next_cursor: 'a b/ä' }), '?limit=1000&cursor=a+b%2F%C3%A4'],
    ['next_cursor, a number', json(200, { locks: ['a'], next_cursor: 7 }), '?limit=1000&cursor=7'],
    ['next, a cursor', json(200, { items: ['a'], next: 'abc' }), '?limit=1000&cursor=abc'],
    ['next, a path', json(200, { items: ['a'], next: '/v1/workspaces/game/locks?p=2' }), '?p=2'],
    ['next, a query', json(200, { items: ['a'], next: '?p=2' }), '?p=2'],
    ['next in links', json(200, { data: ['a'], links: { next: { href: '?p=2' } } }), '?p=2'],
    ['next_cursor in pagination', json(200, { data: ['a'], pagination: { next_cursor: 'c' } }), '?limit=1000&cursor=c'],
  ])('are found by %s', async (_, page1, query) => {
    const { urls, paths, locks } = await follow(page1, last);
    expect(paths).toEqual(['a', 'b']);
    expect(urls).toEqual([first, `/v1/workspaces/game/locks${query}`]);
    expect(locks.incomplete).toBeUndefined();
  });

  test('are found by next, an absolute address of the same server', async () => {
    const server = await startOtherServer((response, request) => {
      const next = request.url.includes('p=2') ? null : `http://${request.headers.host}${request.url}&p=2`;
      json(200, { locks: [request.url.length > first.length ? 'b' : 'a'], next })(response, request);
    });
    const client = testClient(server.baseUrl);
    const { items } = await client.listLocks({ workspace: game }, client.within());
    expect(items.map(({ path }) => path)).toEqual(['a', 'b']);
  });

  test.each([
    ['null', { locks: ['a'], next_cursor: null }],
    ['an empty text', { locks: ['a'], next_cursor: '', next: '' }],
    ['false', { locks: ['a'], next: false }],
    ['has_more: false', { locks: ['a'], next_cursor: 'c', has_more: false }],
  ])('end with %s', async (_, body) => {
    const { urls } = await follow(json(200, body), last);
    expect(urls).toHaveLength(1);
  });

  test('are not fetched from another server, and the list is not taken for whole', async () => {
    const other = await startOtherServer(last);
    const link = `<${other.origin}/v1/workspaces/game/locks?p=2&secret=1>; rel="next"`;
    const server = await startOtherServer(json(200, ['a'], { link }));
    const client = testClient(server.baseUrl);
    const error = await errorOf(client.listLocks({ workspace: game }, client.within()));
    expect(error.message).toContain(`its next page is at ${other.origin}, which is another server`);
    expect(other.requests).toHaveLength(0);
  });

  test('that name each other in a circle end, with what they have', async () => {
    const { paths, urls, locks } = await follow(
      json(200, { locks: ['a'], next_cursor: '1' }),
      json(200, { locks: ['b'], next_cursor: '2' }),
      json(200, { locks: ['c'], next_cursor: '1' }),
    );
    expect(urls).toHaveLength(3);
    expect(paths).toEqual(['a', 'b', 'c']);
    expect(locks.incomplete).toBe(
      'The list of locks may not be whole: the service names a page as the next that was there before.',
    );
  });

  test('of a service that does not know its own cursors are not counted twice', async () => {
    const { paths, urls, locks } = await follow(json(200, { locks: ['a'], next_cursor: '1' }));
    expect(urls).toHaveLength(2);
    expect(paths).toEqual(['a']);
    expect(locks.incomplete).toContain('the same page again');
  });

  test('are at most a thousand', async () => {
    let n = 0;
    const server = await startOtherServer((response, request) => {
      n += 1;
      json(200, { locks: [`f${n}`], next_cursor: n })(response, request);
    });
    const client = testClient(server.baseUrl);
    const { items, incomplete } = await client.listLocks({ workspace: game }, client.within());
    expect(server.requests).toHaveLength(1_000);
    expect(items).toHaveLength(1_000);
    expect(incomplete).toContain('more than 1000 pages');
  });

  test.each([
    [
      '64 MB together',
      JSON.stringify(['x'.repeat(9 * 1_024 * 1_024)]),
      8,
      7,
      'its pages have more than 64 MB together',
    ],
    ['a million entries', `[${'"a",'.repeat(300_000)}"a"]`, 4, 900_003, 'it has more than 1000000 entries'],
  ])('are at most %s', async (_, page, asked, read, why) => {
    let n = 0;
    const server = await startOtherServer((response, request) => {
      n += 1;
      raw(200, page, { link: `<${request.url}&p=${n}>; rel="next"` })(response, request);
    });
    const client = testClient(server.baseUrl);
    const { items, incomplete } = await client.listLocks({ workspace: game }, client.within());
    expect(server.requests).toHaveLength(asked);
    expect(items).toHaveLength(read);
    expect(incomplete).toBe(`The list of locks may not be whole: ${why}.`);
  });
});

describe('a filter of locks', () => {
  test('is sent, and holds where the service does not know it', async () => {
    const server = await startOtherServer(json(200, ['Content/Hero.uasset', 'Content/Tree.uasset', 'Maps/A.umap']));
    const client = testClient(server.baseUrl);
    const one = await client.listLocks({ workspace: game, filter: { path: hero } }, client.within());
    const some = await client.listLocks({ workspace: game, filter: { prefix: 'Content/' } }, client.within());
    expect(one.items.map(({ path }) => path)).toEqual(['Content/Hero.uasset']);
    expect(some.items.map(({ path }) => path)).toEqual(['Content/Hero.uasset', 'Content/Tree.uasset']);
    expect(server.requests.map(({ url }) => new URL(url, server.origin).searchParams.toString())).toEqual([
      'path=Content%2FHero.uasset&limit=1000',
      'prefix=Content%2F&limit=1000',
    ]);
  });

  test('finds a path that the service writes with decomposed characters', async () => {
    const server = await startOtherServer(json(200, ['Inhalt/Bu\u0308hne.uasset']));
    const client = testClient(server.baseUrl);
    const filter = { path: lockPath('Inhalt/B\u00fchne.uasset') };
    expect((await client.listLocks({ workspace: game, filter }, client.within())).items).toHaveLength(1);
  });

  test.each([400, 422])('is left out for a service that refuses unknown parameters with %i', async (status) => {
    const server = await startOtherServer((response, request) => {
      const answer = request.url.includes('?') ? json(status, { detail: 'unknown parameter' }) : json(200, ['a', 'b']);
      answer(response, request);
    });
    const client = testClient(server.baseUrl);
    const { items } = await client.listLocks({ workspace: game, filter: { path: lockPath('b') } }, client.within());
    expect(items.map(({ path }) => path)).toEqual(['b']);
  });
});

describe('an entry of a list of locks', () => {
  const read = async (entry: unknown) => {
    const server = await startOtherServer(json(200, [entry]));
    const client = testClient(server.baseUrl);
    return (await client.listLocks({ workspace: game }, client.within())).items[0];
  };

  test.each([
    ['our names', { path: 'a', owner: 'ada', acquired_at: '2026-03-01T11:00:00Z', expires_at: '2026-03-01T13:00:00Z' }],
    ['camel case', { filePath: 'a', lockedBy: 'ada', lockedAt: '2026-03-01T11:00:00Z', expiresAt: 1772370000 }],
    [
      'owners with a name',
      { file: 'a', owner: { name: 'ada', id: 7 }, since: 1772362800000, until: '2026-03-01T13:00:00' },
    ],
    [
      'a wrapper',
      {
        lock: {
          path: 'a',
          user: 'ada',
          created_at: '2026-03-01 12:00:00+01:00',
          expiry: 'Sun, 01 Mar 2026 13:00:00 GMT',
        },
      },
    ],
  ])('is read with %s', async (_, entry) => {
    expect(await read(entry)).toMatchObject({
      path: 'a',
      owner: 'ada',
      acquired_at: '2026-03-01T11:00:00.000Z',
      expires_at: '2026-03-01T13:00:00.000Z',
    });
  });

  test.each([
    ['an id that is a number', { path: 'a', id: 17 }, { id: '17' }],
    ['an id that is no longer exact', { path: 'a', id: 2 ** 60 }, { id: undefined }],
    ['an id that cannot be quoted', { path: 'a', id: 'a"b' }, { id: undefined }],
    ['an ETag without quotes', { path: 'a', etag: 'x' }, { etag: '"x"' }],
    ['an ETag that no header can have', { path: 'a', etag: '"x\r\nX-Other: 1"' }, { etag: undefined }],
    ['a weak ETag', { path: 'a', etag: 'W/"x"' }, { etag: undefined }],
    [
      'times that are none',
      { path: 'a', expires_at: 'in 3 days', acquired_at: '1' },
      { expires_at: undefined, acquired_at: undefined },
    ],
    ['a fence', { path: 'a', fence: 17 }, { fence: 17 }],
    ['a fence that is a text', { path: 'a', fencingToken: '17' }, { fence: 17 }],
    ['a fence that is no longer exact', { path: 'a', fence: 2 ** 60 }, { fence: undefined }],
    ['a fence that is no longer exact, as a text', { path: 'a', fence: '9007199254740993' }, { fence: undefined }],
    ['a fence that is none', { path: 'a', fence: '0x11' }, { fence: undefined }],
    ['a fence that does not count', { path: 'a', fence: -1.5 }, { fence: undefined }],
    ['a time beyond all years', { path: 'a', expires_at: 1e300 }, { expires_at: undefined }],
    ['an owner with a line break', { path: 'a', owner: 'ada\n::error::x\u202e' }, { owner: 'ada ::error::x' }],
    ['a path with a control character', { path: 'a\u0000\nb' }, { path: 'a\ufffd\ufffdb' }],
    ['a member called __proto__', JSON.parse('{"path":"a","__proto__":{"owner":"eve"}}'), { owner: undefined }],
  ])('with %s does no harm', async (_, entry, expected) => {
    expect(await read(entry)).toMatchObject(expected);
  });
});
