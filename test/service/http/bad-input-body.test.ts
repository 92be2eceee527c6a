import { afterAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../support/running-service.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { sharedService } from './shared-service.ts';

const halfPair = '\ud800';
const hook = { url: 'https://ci.example.com/hook' };

/** The values of each field are tested with its parser, and its limits in openapi-document.test.ts. */
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
    ['an empty body', ''],
    ['an incomplete object', '{"path":"a","type":"exclusive","ttl":"1'],
    ['text after the object', '{"path":"a","type":"exclusive","ttl":"1h"} x'],
    ['a raw control character', '{"path":"a\u0000","type":"exclusive","ttl":"1h"}'],
    ['a byte order mark', '\ufeff{"path":"a","type":"exclusive","ttl":"1h"}'],
    ['a mebibyte of opening brackets', '['.repeat(1024 * 1024)],
    ['a byte that is invalid in UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['UTF-16', Uint8Array.from(Buffer.from('{"path":"a"}', 'utf16le'))],
  ])('gets 400 if it is not JSON: %s', async (_name, text) => {
    expectProblem(await post('locks', text), 'malformed-request');
  });

  test.each([
    ['an empty list', '[]'],
    ['a list of requests', '[{"path":"a","type":"exclusive","ttl":"1h"}]'],
    ['null', 'null'],
    ['a string', '"a"'],
    ['a number', '1'],
    ['half a million nested lists', `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ])('gets 422 if it is JSON, but not an object: %s', async (_name, text) => {
    for (const collection of ['locks', 'sync', 'hooks']) expectInvalid(await post(collection, text), '#');
  });

  describe('the type of a request body', () => {
    const body = JSON.stringify({ path: 'a', type: 'exclusive', ttl: '1h' });
    test.each([
      ['text/plain'],
      ['application/x-www-form-urlencoded'],
      ['application/jsonp'],
      ['application/json, text/plain'],
      [''],
      [undefined],
    ])('gets 415 if it is %j', async (type) => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      expectProblem(await post('locks', body, headers), 'unsupported-media-type');
    });

    test('gets 415 with a content encoding, which would look like broken JSON', async () => {
      const response = await post('locks', body, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      expectProblem(response, 'unsupported-media-type');
      expect(response.headers.get('accept-encoding')).toBe('identity');
    });

    test.each([['application/json;charset=UTF-8'], ['APPLICATION/JSON'], ['application/vnd.acme.v1+json']])(
      'is accepted if it is %s',
      async (type) => {
        expect((await post('locks', JSON.stringify(freeLock()), { 'content-type': type })).status).toBe(201);
      },
    );
  });

  describe('the errors of a request body', () => {
    test('name every missing field', async () => {
      expectInvalid(await post('locks', '{}'), '#/path', '#/type', '#/ttl');
      expectInvalid(await post('sync', '{}'), '#/branch');
      expectInvalid(await post('hooks', '{}'), '#/url');
      const { errors } = (await post('locks', '{"path":"a","type":"exclusive"}')).body;
      expect(errors).toEqual([{ pointer: '#/ttl', detail: 'It is missing.' }]);
    });

    test.each([[null], [1], [true], [{}], [['a']]])('name every field that is %j', async (value) => {
      expectInvalid(await postJson('locks', { path: value, type: value, ttl: value }), '#/path', '#/type', '#/ttl');
      expectInvalid(await postJson('sync', { branch: value }), '#/branch');
      expectInvalid(await postJson('hooks', { url: value }), '#/url');
    });

    test('name nested fields with a JSON Pointer (RFC 6901)', async () => {
      const response = await postJson('hooks', { ...hook, branches: ['main', '-x'], headers: { 'a/b~ü': 1 } });
      expectInvalid(response, '#/branches/1', '#/headers/a~1b~0%C3%BC');
      expectInvalid(await postJson('hooks', { ...hook, headers: { [halfPair]: 1 } }), '#/headers/%EF%BF%BD');
    });

    test('name only the limit if a field has too many entries', async () => {
      const headers = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, `${index}`]));
      const { errors } = (await postJson('hooks', { ...hook, headers })).body;
      expect(errors).toEqual([{ pointer: '#/headers', detail: 'A hook can have at most 20 extra headers.' }]);
    });
  });

  test('may have unknown fields, which are ignored, even __proto__ and the like', async () => {
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
