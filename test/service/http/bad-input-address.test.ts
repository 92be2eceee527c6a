import { afterAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { type RawAnswer, requestRaw } from '../../support/raw-http.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { addressIn, expectedOperations } from './operations.ts';
import { sharedService, words } from './shared-service.ts';

/** Targets are sent exactly as written here: `fetch` would resolve and encode them first. */
describe.each(databaseKinds)('a bad request target on $name', (kind) => {
  const service = sharedService(kind);
  afterAll(async () => {
    expect((await service.ask('GET', '/readyz')).status).toBe(200);
  });

  const ask = (method: string, target: string): Promise<RawAnswer> =>
    requestRaw(service.port, { method, target, token: service.secret });
  const post = (target: string, json: unknown): Promise<RawAnswer> =>
    requestRaw(service.port, {
      method: 'POST',
      target,
      token: service.secret,
      headers: ['Content-Type: application/json'],
      body: JSON.stringify(json),
    });
  const locks = (rest = '') => `/v1/workspaces/${service.home}/locks${rest}`;
  const lock = (path: string): Promise<RawAnswer> => post(locks(), { path, type: 'exclusive', ttl: '1h' });

  const unknown = words(String.raw`
    /v1 /v1/ /v2/workspaces /V1/workspaces /v1/workspaces/ //v1/workspaces /v1//workspaces /v1/./workspaces
    /v1/workspaces/../workspaces /v1/workspaces/%2e%2e/openapi.json /v1/workspaces/../openapi.json
    /v1/workspaces/x/../../openapi.json /v1\workspaces /v1%2Fworkspaces /v1/workspaces;x=1
    /healthz/ /healthz%00 /%zz /%ff * ftp://localhost/healthz`);
  test.each(unknown)('%s gets 404', async (target) => {
    expectProblem(await ask('GET', target), 'not-found');
  });

  test.each([...Map.groupBy(expectedOperations, ({ path }) => path)])(
    'any unsupported method on %s gets 405',
    async (_path, operations) => {
      const known = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort();
      for (const target of operations.map((operation) => addressIn(operation, 'w'))) {
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
          const response = await requestRaw(service.port, { method, target });
          expect(response.status === 405, method).toBe(!known.includes(method));
          if (response.status === 405) expect(response.headers.get('allow')).toBe(known.join(', '));
          if (response.status === 405 && method !== 'HEAD') expectProblem(response, 'method-not-allowed');
        }
      }
    },
  );

  test('HEAD is answered like GET, without the body', async () => {
    for (const target of ['/v1/workspaces', locks('?limit=2'), '/healthz', '/v1/openapi.json']) {
      const [get, head] = await Promise.all([ask('GET', target), ask('HEAD', target)]);
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(head.headers.get('x-request-id')).toMatch(/^req_/);
    }
    expect((await requestRaw(service.port, { method: 'HEAD', target: '/v1/workspaces' })).status).toBe(401);
  });

  test('a lock on a path that looks like another URL can be released, however its slashes are sent', async () => {
    for (const path of [...words('locks/x x/locks/y hooks %2e%2e a?b a#b a+b'), 'a/b c', locks('/z').slice(1)]) {
      const [oneSegment, segments] = [encodeURIComponent(path), path.split('/').map(encodeURIComponent).join('/')];
      for (const written of [oneSegment, segments]) {
        expect((await lock(path)).status).toBe(201);
        expect((await ask('DELETE', locks(`/${written}`))).status).toBe(204);
      }
    }
  });

  const cursor = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64url');
  test.each([
    ['limit', ['0', '1001', '-1', 'abc', '1e3', '1.5', '+5', '', '%31%zz', '99999999999999999999', '1&lim%69t=1']],
    ['path', ['a&path=a', '', '..', '%00', '%ff', 'a%', '%ed%a0%80', 'a'.repeat(1_025)]],
    ['prefix', ['%00', 'a%0Ab', '%ff', 'a'.repeat(1_025), 'a&prefix=b']],
    ['owner', ['%00', 'a%0Ab', '%ff', 'a'.repeat(1_025), 'a&owner=b']],
    ['cursor', ['', 'abc', '!!!', '%00', 'YQ==', '42', cursor('../x'), cursor('a\0'), cursor(Uint8Array.of(0xff))]],
  ])('an invalid %s of a list is rejected', async (field, values) => {
    for (const value of values) expectInvalid(await ask('GET', locks(`?${field}=${value}`)), `#/${field}`);
    expectInvalid(await ask('GET', locks('?limit')), '#/limit');
  });

  test('a force that is not a boolean and a reason without force are rejected', async () => {
    for (const query of ['force=1', 'force', 'force=TRUE&reason=a'])
      expectInvalid(await ask('DELETE', locks(`/a?${query}`)), '#/force');
    for (const query of ['reason=a', 'reason=', 'force=false&reason=a'])
      expectInvalid(await ask('DELETE', locks(`/a?${query}`)), '#/reason');
  });

  test('an unknown parameter is rejected by name, so that a misspelled filter never lists everything', async () => {
    for (const query of [
      'onwer=ada',
      'Limit=1',
      'limit=1&page=2',
      '__proto__=1',
      'constructor',
      '%6fnwer=ada',
      'x=1#limit=7',
    ]) {
      const [name = ''] = decodeURIComponent(query.split('&').at(-1) ?? '').split('=');
      const { body } = await ask('GET', locks(`?${query}`));
      const detail = 'Unknown parameter. This endpoint supports path, prefix, owner, limit, cursor.';
      expect(body.errors).toEqual([{ pointer: `#/${name}`, detail }]);
    }
    expectInvalid(await ask('GET', locks('?%zz=1')), '#/%25zz');
    expectInvalid(await ask('GET', locks(`?${'a'.repeat(2_000)}`)), `#/${'a'.repeat(100)}`);
    expectInvalid(await post(locks('?ttl=1h'), { path: 'a', type: 'exclusive', ttl: '1h' }), '#/ttl');
    expect((await ask('GET', locks('?path=a'))).body.locks).toEqual([]);
    expectInvalid(await ask('DELETE', locks('/a?Force=true')), '#/Force');
    for (const fine of ['?', '?&&', '?=1', '?limit=1&']) expect((await ask('GET', locks(fine))).status).toBe(200);
    expect((await ask('GET', '/healthz?from=probe')).status).toBe(200);
  });

  test('the absolute form of a URL means the same, whatever host it names', async () => {
    for (const origin of ['http://localhost', 'HTTPS://user:password@elsewhere.example:1', 'http://[']) {
      expect((await ask('GET', `${origin}/v1/workspaces`)).status).toBe(200);
      expectInvalid(await ask('DELETE', `${origin}${locks('/../hooks')}`), '#/path');
      expectProblem(await ask('GET', `${origin}/v1/workspaces/../openapi.json`), 'not-found');
      expectProblem(await ask('GET', `${origin}?limit=1`), 'unauthorized');
    }
    expect(service.log()).not.toContain('password');
  });
});
