import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { expectInvalid } from './expect-problem.ts';
import { named } from './named.ts';

const halfPair = '\ud800';

describe.each(realDatabaseKinds)('a bad field on $name', (kind) => {
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

  const post = (collection: string, json: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    service.ask('POST', `/v1/workspaces/${workspace}/${collection}`, { token, json, headers });

  let locks = 0;
  const freeLock = () => {
    locks += 1;
    return { path: `free/${locks}`, type: 'exclusive', ttl: '1h' };
  };
  const hook = { url: 'https://ci.example.com/hook' };

  test.each(
    named(
      '',
      '.',
      '..',
      '../a',
      'a/../b',
      'a/./b',
      'a//b',
      '/a',
      'a/',
      'a\\b',
      '..\\a',
      'a\u0000b',
      'a\nb',
      'a\u0085b',
      `a${halfPair}`,
      '\udfffa',
      'a'.repeat(1_025),
      'ü'.repeat(513),
      'a/'.repeat(500_000),
    ),
  )('the path %s is refused', async (_name, path) => {
    expectInvalid(await post('locks', { ...freeLock(), path }), '#/path');
  });

  test('a path of 1,024 bytes is not too long, and percent signs in a body are only that', async () => {
    for (const path of ['a'.repeat(1_024), 'ü'.repeat(512), '%2e%2e/%2F', '%00', '%zz', '..a', 'a..', '...']) {
      const { status, body } = await post('locks', { ...freeLock(), path });
      expect([status, body.path]).toEqual([201, path]);
    }
  });

  test.each(
    named(
      '0h',
      '0s',
      '1w',
      '99999999d',
      '31d',
      '',
      'h',
      '60',
      '-1h',
      '+1h',
      '1.5h',
      '1e3s',
      ' 1h',
      '1h ',
      '1 h',
      '1H',
      '1h30m',
      'PT1H',
      '１h',
      '1h\u0000',
      `${'9'.repeat(100_000)}h`,
    ),
  )('the ttl %s is refused', async (_name, ttl) => {
    expectInvalid(await post('locks', { ...freeLock(), ttl }), '#/ttl');
  });

  test.each(named('shared', 'EXCLUSIVE', '', 'exclusive\u0000', halfPair))(
    'the type %s is refused',
    async (_, type) => {
      expectInvalid(await post('locks', { ...freeLock(), type }), '#/type');
    },
  );

  test.each(
    named(
      '',
      '-x',
      '--upload-pack=touch x',
      'refs/heads/main',
      'HEAD',
      '@',
      'a b',
      'a..b',
      'a:b',
      '+a:b',
      'a^',
      'a@{1}',
      '/a',
      'a/',
      '.a',
      'a.lock',
      'a\\b',
      'a\u0000b',
      'a\nb',
      `a${halfPair}`,
      'a'.repeat(256),
    ),
  )('the branch %s is refused, to a sync and to a hook', async (_name, branch) => {
    expectInvalid(await post('sync', { branch }), '#/branch');
    expectInvalid(await post('hooks', { ...hook, branches: [branch] }), '#/branches/0');
  });

  test.each<[pointer: string, body: unknown]>([
    ['#/url', { url: 'a' }],
    ['#/url', { url: '' }],
    ['#/url', { url: 'ftp://ci.example.com/' }],
    ['#/url', { url: 'file:///etc/passwd' }],
    ['#/url', { url: 'https://name:password@ci.example.com/' }],
    ['#/url', { url: 'https://ci.example.com/#a' }],
    ['#/url', { url: 'https://ci.example.com/\u0000' }],
    ['#/url', { url: `https://ci.example.com/${'a'.repeat(2_048)}` }],
    ['#/url', { url: 'http://127.0.0.1/' }],
    ['#/url', { url: 'https://[::1]/' }],
    ['#/events', { ...hook, events: [] }],
    ['#/events', { ...hook, events: 'sync.succeeded' }],
    ['#/events/0', { ...hook, events: ['*'] }],
    ['#/events', { ...hook, events: Array(100).fill('sync.failed') }],
    ['#/branches', { ...hook, branches: [] }],
    ['#/branches', { ...hook, branches: Array(101).fill('main') }],
    ['#/format', { ...hook, format: 'slack' }],
    ['#/format', { ...hook, format: 'buildkite', events: ['lock.acquired'] }],
    ['#/secret', { ...hook, secret: '' }],
    ['#/secret', { ...hook, secret: 'whsec_dG9vIHNob3J0' }],
    ['#/secret', { ...hook, secret: `whsec_\u0000${halfPair}` }],
    ['#/headers', { ...hook, headers: { host: 'a' } }],
    ['#/headers', { ...hook, headers: { 'a b': 'c' } }],
    ['#/headers', { ...hook, headers: { a: 'b\r\nc: d' } }],
    ['#/headers', { ...hook, headers: { a: `b\u0000${halfPair}` } }],
    ['#/headers', { ...hook, headers: [] }],
  ])('a hook is refused for its %s', async (pointer, body) => {
    expectInvalid(await post('hooks', body), pointer);
  });

  test.each(named('', 'a b', 'ü', 'a'.repeat(256)))('the Idempotency-Key %s is refused', async (_name, key) => {
    expectInvalid(await post('locks', freeLock(), { 'idempotency-key': key }), '#/Idempotency-Key');
  });
});
