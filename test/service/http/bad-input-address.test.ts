import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RawAnswer, requestRaw } from '../../support/raw-http.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { named } from './named.ts';

/** Addresses are sent as they stand here: `fetch` would resolve and encode them first. */
describe.each(realDatabaseKinds)('a bad address on $name', (kind) => {
  let service: RunningService;
  let token: string;
  let workspace: string;

  beforeAll(async () => {
    service = await startTestService(kind);
    token = (await service.token()).secret;
    workspace = await service.workspace();
  });
  afterAll(async () => {
    expect((await service.ask('GET', '/readyz')).status).toBe(200);
    await service.stop();
  });

  const ask = (method: string, target: string): Promise<RawAnswer> =>
    requestRaw(service.port, { method, target, token });
  const post = (target: string, json: unknown): Promise<RawAnswer> =>
    requestRaw(service.port, {
      method: 'POST',
      target,
      token,
      headers: ['Content-Type: application/json'],
      body: JSON.stringify(json),
    });
  const lock = (path: string): Promise<RawAnswer> =>
    post(`/v1/workspaces/${workspace}/locks`, { path, type: 'exclusive', ttl: '1h' });

  test.each(
    named(
      '/v1',
      '/v1/',
      '/v2/workspaces',
      '/V1/workspaces',
      '/v1/workspaces/',
      '//v1/workspaces',
      '/v1//workspaces',
      '/v1/./workspaces',
      '/v1/workspaces/../workspaces',
      '/v1/workspaces/%2e%2e/openapi.json',
      '/v1/workspaces/../openapi.json',
      '/v1/workspaces/x/../../openapi.json',
      '/v1\\workspaces',
      '/v1%2Fworkspaces',
      '/v1/workspaces;x=1',
      '/healthz/',
      '/healthz%00',
      '/%zz',
      '/%ff',
      '*',
      'ftp://localhost/healthz',
      `/${'a'.repeat(8_000)}`,
    ),
  )('%s is 404', async (_name, target) => {
    expectProblem(await ask('GET', target), 'not-found');
  });

  test('raw bytes that an address cannot have are told apart from garbage', async () => {
    const { detail } = expectProblem(await ask('DELETE', `/v1/workspaces/${workspace}/locks/ü`), 'malformed-request');
    expect(detail).toContain('percent-encoded');
  });

  test.each([
    ['/v1/workspaces', 'GET, HEAD'],
    ['/v1/workspaces/w/branches', 'GET, HEAD'],
    ['/v1/workspaces/w/sync', 'POST'],
    ['/v1/workspaces/w/syncs/s', 'GET, HEAD'],
    ['/v1/workspaces/w/locks', 'GET, HEAD, POST'],
    ['/v1/workspaces/w/locks/a%2Fb', 'DELETE'],
    ['/v1/workspaces/w/locks/a/b', 'DELETE'],
    ['/v1/workspaces/w/hooks', 'POST'],
    ['/v1/openapi.json', 'GET, HEAD'],
    ['/healthz', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/metrics', 'GET, HEAD'],
  ])('%s allows %s, and any other method is 405', async (target, allowed) => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
    for (const method of methods.filter((name) => !allowed.split(', ').includes(name))) {
      const answer = await requestRaw(service.port, { method, target });
      expectProblem(answer, 'method-not-allowed');
      expect(answer.headers.get('allow')).toBe(allowed);
    }
    const head = await ask('HEAD', target);
    expect(head.status === 405).toBe(!allowed.includes('HEAD'));
    expect(head.text).toBe('');
  });

  test('HEAD is answered like GET, without the body', async () => {
    for (const target of [
      '/v1/workspaces',
      `/v1/workspaces/${workspace}/locks?limit=2`,
      '/healthz',
      '/v1/openapi.json',
    ]) {
      const [get, head] = await Promise.all([ask('GET', target), ask('HEAD', target)]);
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(head.headers.get('x-request-id')).toMatch(/^req_/);
    }
    expect((await requestRaw(service.port, { method: 'HEAD', target: '/v1/workspaces' })).status).toBe(401);
  });

  test.each(
    named(
      '..',
      '../hooks',
      '../../w/hooks',
      '%2e%2e',
      '%2e%2e/locks/victim',
      '%2E%2E%2Flocks%2Fvictim',
      '.%2e/victim',
      '.',
      './victim',
      'a/../victim',
      'a/%2e/victim',
      '/victim',
      '%2Fvictim',
      'a//victim',
      'a%2F%2Fvictim',
      'victim/',
      'victim%2F',
      '..\\victim',
      'a\\victim',
      'a%5Cvictim',
      'victim%00',
      '%00',
      'victim%0A',
      'victim%C2%85',
      '%',
      '%zz',
      'victim%',
      'victim%2',
      '%ff',
      '%c3',
      '%c0%ae%c0%ae%c0%afvictim',
      '%ed%a0%80',
      'a'.repeat(1_025),
    ),
  )('the lock path %s is 422, and addresses nothing else', async (_name, path) => {
    await lock('victim');
    expectInvalid(await ask('DELETE', `/v1/workspaces/${workspace}/locks/${path}`), '#/path');
    for (const method of ['GET', 'POST', 'PUT']) {
      expectProblem(await ask(method, `/v1/workspaces/${workspace}/locks/${path}`), 'method-not-allowed');
    }
    const { locks } = (await ask('GET', `/v1/workspaces/${workspace}/locks?path=victim`)).body;
    expect(locks).toHaveLength(1);
  });

  test('a lock path that reads like another address is released by its own, however its slashes are sent', async () => {
    const paths = [
      'locks/x',
      'x/locks/y',
      `v1/workspaces/${workspace}/locks/z`,
      'hooks',
      '%2e%2e',
      'a?b',
      'a#b',
      'a+b',
    ];
    for (const path of paths) {
      const [oneSegment, segments] = [encodeURIComponent(path), path.split('/').map(encodeURIComponent).join('/')];
      for (const written of [oneSegment, segments]) {
        expect((await lock(path)).status).toBe(201);
        expect((await ask('DELETE', `/v1/workspaces/${workspace}/locks/${written}`)).status).toBe(204);
      }
    }
  });

  test.each(
    named(
      'nowhere',
      '..',
      '%2e%2e',
      '.',
      '%00',
      'w%00',
      '%zz',
      '%ff',
      'W',
      '-',
      "'%20or%20'1'='1",
      'a%2Flocks%2Fb',
      'a'.repeat(65),
      'a'.repeat(4_000),
    ),
  )('there is no workspace %s', async (_name, id) => {
    const at = `/v1/workspaces/${id}`;
    const answers = [
      await ask('GET', `${at}/branches`),
      await ask('GET', `${at}/locks`),
      await ask('GET', `${at}/syncs/x`),
      await ask('DELETE', `${at}/locks/a`),
      await post(`${at}/locks`, { path: 'a', type: 'exclusive', ttl: '1h' }),
      await post(`${at}/sync`, { branch: 'main' }),
      await post(`${at}/hooks`, { url: 'https://ci.example.com/' }),
    ];
    for (const answer of answers) expectProblem(answer, 'not-found');
  });

  test.each(named('x', '%00', '%zz', '%ff', 'sync_%00', '..', "'", 'a'.repeat(4_000)))(
    'there is no sync %s',
    async (_name, id) => {
      expectProblem(await ask('GET', `/v1/workspaces/${workspace}/syncs/${id}`), 'not-found');
    },
  );

  test.each([
    [
      'limit',
      [
        'limit=0',
        'limit=1001',
        'limit=-1',
        'limit=abc',
        'limit=1e3',
        'limit=1.5',
        'limit=+5',
        'limit=',
        'limit',
        'limit=%31%zz',
        'limit=99999999999999999999',
        'limit=1&limit=2',
        'limit=1&lim%69t=1',
      ],
    ],
    [
      'path',
      [
        'path=a&path=a',
        'path=',
        'path=..',
        'path=%00',
        'path=%ff',
        'path=a%',
        'path=%ed%a0%80',
        `path=${'a'.repeat(1_025)}`,
      ],
    ],
    ['prefix', ['prefix=%00', 'prefix=a%0Ab', 'prefix=%ff', `prefix=${'a'.repeat(1_025)}`, 'prefix=a&prefix=b']],
    [
      'cursor',
      [
        'cursor=',
        'cursor=abc',
        'cursor=!!!',
        'cursor=%00',
        `cursor=${Buffer.from('../x').toString('base64url')}`,
        `cursor=${Buffer.from('a\0').toString('base64url')}`,
        `cursor=${Buffer.from([0xff]).toString('base64url')}`,
        'cursor=YQ==',
        'cursor=42',
      ],
    ],
  ])('what a list cannot take as %s is refused', async (field, queries) => {
    for (const query of queries) {
      expectInvalid(await ask('GET', `/v1/workspaces/${workspace}/locks?${query}`), `#/${field}`);
    }
  });
  test.each([['force=1'], ['force='], ['force'], ['force=TRUE'], ['force=true&force=true'], ['force=%00']])(
    'the query ?%s of a release is refused',
    async (query) => {
      expectInvalid(await ask('DELETE', `/v1/workspaces/${workspace}/locks/a?${query}`), '#/force');
    },
  );

  test('parameters that are not known are ignored, whatever they say', async () => {
    const query = 'x=1&x=2&%zz=%ff&=&&__proto__=1&Limit=0&limit=1&page=%00#limit=7';
    expect((await ask('GET', `/v1/workspaces/${workspace}/locks?${query}`)).status).toBe(200);
  });

  test('the absolute form of an address means the same, whatever host it names', async () => {
    for (const origin of ['http://localhost', 'HTTPS://user:password@elsewhere.example:1', 'http://[']) {
      expect((await ask('GET', `${origin}/v1/workspaces`)).status).toBe(200);
      expectInvalid(await ask('DELETE', `${origin}/v1/workspaces/${workspace}/locks/../hooks`), '#/path');
      expectProblem(await ask('GET', `${origin}/v1/workspaces/../openapi.json`), 'not-found');
      expectProblem(await ask('GET', `${origin}?limit=1`), 'unauthorized');
    }
    expect(service.log()).not.toContain('password');
  });
});
