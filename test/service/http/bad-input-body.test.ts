import { afterAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../support/running-service.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { sharedService } from './shared-service.ts';

const halfPair = '\ud800';
const hook = { url: 'https://ci.example.com/hook' };

/** What each field takes is with its parser, and its limits in openapi-document.test.ts. */
describe('a bad request body', () => {
  const service = sharedService();
  afterAll(async () => {
    expect((await service.ask('GET', '/readyz')).status).toBe(200);
  });

  const post = (
    collection: string,
    raw: string | Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ): Promise<Reply> =>
    service.ask('POST', `/v1/workspaces/${service.home}/${collection}`, { token: service.secret, raw, headers });
  const postJson = (collection: string, json: unknown): Promise<Reply> => post(collection, JSON.stringify(json));

  let paths = 0;
  const freeLock = () => {
    paths += 1;
    return { path: `free/${paths}`, type: 'exclusive', ttl: '1h' };
  };

  test.each([
    ['nothing', ''],
    ['cut off', '{"path":"a","type":"exclusive","ttl":"1'],
    ['with more behind it', '{"path":"a","type":"exclusive","ttl":"1h"} x'],
    ['with a raw control character', '{"path":"a\u0000","type":"exclusive","ttl":"1h"}'],
    ['behind a byte order mark', '\ufeff{"path":"a","type":"exclusive","ttl":"1h"}'],
    ['a mebibyte of opened lists', '['.repeat(1024 * 1024)],
    ['a byte that is never in UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['a character that is cut off', Uint8Array.of(0x22, 0xc3, 0x22)],
    ['a character that is longer than it needs to be', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['half of a surrogate pair', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['UTF-16', Uint8Array.from(Buffer.from('{"path":"a"}', 'utf16le'))],
  ])('that is not JSON is 400: %s', async (_name, text) => {
    expectProblem(await post('locks', text), 'malformed-request');
  });

  test.each([
    ['an empty list', '[]'],
    ['a list of what is asked for', '[{"path":"a","type":"exclusive","ttl":"1h"}]'],
    ['null', 'null'],
    ['a string', '"a"'],
    ['a number', '1'],
    ['half a million lists in each other', `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ])('that is JSON but no object is 422: %s', async (_name, text) => {
    for (const collection of ['locks', 'sync', 'hooks']) expectInvalid(await post(collection, text), '#');
  });

  describe('of another type is 415', () => {
    const body = JSON.stringify({ path: 'a', type: 'exclusive', ttl: '1h' });
    test.each([
      ['text/plain'],
      ['application/x-www-form-urlencoded'],
      ['application/jsonp'],
      ['application/json, text/plain'],
      [''],
      [undefined],
    ])('%j', async (type) => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      expectProblem(await post('locks', body, headers), 'unsupported-media-type');
    });

    test('a coding of the content, which would look like broken JSON', async () => {
      const response = await post('locks', body, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      expectProblem(response, 'unsupported-media-type');
      expect(response.headers.get('accept-encoding')).toBe('identity');
    });

    test.each([['application/json;charset=UTF-8'], ['APPLICATION/JSON'], ['application/vnd.acme.v1+json']])(
      'but not %s',
      async (type) => {
        expect((await post('locks', JSON.stringify(freeLock()), { 'content-type': type })).status).toBe(201);
      },
    );
  });

  describe('names every field that is wrong', () => {
    test('because it is missing', async () => {
      expectInvalid(await post('locks', '{}'), '#/path', '#/type', '#/ttl');
      expectInvalid(await post('sync', '{}'), '#/branch');
      expectInvalid(await post('hooks', '{}'), '#/url');
      const { errors } = (await post('locks', '{"path":"a","type":"exclusive"}')).body;
      expect(errors).toEqual([{ pointer: '#/ttl', detail: 'It is missing.' }]);
    });

    test.each([[null], [1], [true], [{}], [['a']]])('because it is %j', async (value) => {
      expectInvalid(await postJson('locks', { path: value, type: value, ttl: value }), '#/path', '#/type', '#/ttl');
      expectInvalid(await postJson('sync', { branch: value }), '#/branch');
      expectInvalid(await postJson('hooks', { url: value }), '#/url');
    });

    test('inside other fields too, as RFC 6901 writes them', async () => {
      const response = await postJson('hooks', { ...hook, branches: ['main', '-x'], headers: { 'a/b~ü': 1 } });
      expectInvalid(response, '#/branches/1', '#/headers/a~1b~0%C3%BC');
      expectInvalid(await postJson('hooks', { ...hook, headers: { [halfPair]: 1 } }), '#/headers/%EF%BF%BD');
    });

    test('up to a number that a person can read', async () => {
      const branches = Array.from({ length: 100 }, (_, index) => `not a branch ${index}`);
      expect((await postJson('hooks', { ...hook, branches })).body.errors).toHaveLength(20);
    });

    test('but where there are more than there may be: then it says so, and looks at none of them', async () => {
      const headers = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, index]));
      const { errors } = (await postJson('hooks', { ...hook, headers })).body;
      expect(errors).toEqual([{ pointer: '#/headers', detail: 'A hook has at most 20 headers of its own.' }]);
    });
  });

  test('fields that are not known are ignored, __proto__ and its like too', async () => {
    const { status } = await postJson('locks', { ...freeLock(), wait: '5m', nested: { [halfPair]: '\u0000' } });
    expect(status).toBe(201);
    const inherited = '"path":"a","type":"exclusive","ttl":"1h","polluted":"yes"';
    expectInvalid(await post('locks', `{"__proto__":{${inherited}}}`), '#/path', '#/type', '#/ttl');
    expectInvalid(await post('locks', `{"constructor":{"prototype":{${inherited}}}}`), '#/path', '#/type', '#/ttl');
    const { path } = freeLock();
    const response = await post('locks', `{"path":"${path}","type":"exclusive","ttl":"1h","__proto__":{"path":"b"}}`);
    expect([response.status, response.body.path]).toEqual([201, path]);
    expect('polluted' in {}).toBe(false);
  });
});
