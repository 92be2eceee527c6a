import { describe, expect, test } from 'vitest';
import type { Resolve } from '../../../src/service/webhooks/target-address.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { nowhere } from './delivering.ts';
import { hookedService } from './hooked-service.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'public.example.com': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'allowed.example.com': ['127.0.0.1'],
  'inside.example.com': ['10.1.2.3'],
  'both.example.com': ['93.184.216.34', '192.168.1.1'],
  'metadata.example.com': ['::ffff:169.254.169.254'],
};

const resolve: Resolve = async (name) => names[name] ?? nowhere(name);

const [sqlite] = realDatabaseKinds;

describe.each(sqlite === undefined ? [] : [sqlite])('the address of a hook', (kind) => {
  const service = hookedService(kind, { resolve });

  async function register(url: string) {
    const { register } = await service().hooks();
    return register({ url: `${url}?key=the-key-of-the-url` });
  }

  test.each([
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'https://public.example.com/',
    'https://not-known-yet.example.com/',
    'https://127.0.0.1/',
    'http://127.0.0.1/',
    'http://127.255.0.7:8080/',
    'http://0x7f.1/',
    'http://allowed.example.com/',
  ])('may be %s', async (url) => {
    expect((await register(url)).status).toBe(201);
  });

  test.each([
    ['https://10.0.0.1/', 'a private address'],
    ['https://10.1/', 'a private address'],
    ['https://0xa000001/', 'a private address'],
    ['https://167772161/', 'a private address'],
    ['https://012.0.0.1/', 'a private address'],
    ['https://10.0.0.1./', 'a private address'],
    ['https://１０.0.0.1/', 'a private address'],
    ['https://[::ffff:10.0.0.1]/', 'a private address'],
    ['https://[::ffff:a00:1]/', 'a private address'],
    ['https://[0:0:0:0:0:ffff:0a00:0001]/', 'a private address'],
    ['https://[64:ff9b::10.0.0.1]/', 'a private address'],
    ['https://172.31.255.255/', 'a private address'],
    ['https://192.168.0.1:8443/', 'a private address'],
    ['https://[fd12:3456::1]/', 'a private address'],
    ['https://[::1]/', 'a loopback address'],
    ['https://169.254.169.254/latest/', 'a link-local address'],
    ['https://[fe80::1]/', 'a link-local address'],
    ['https://0/', 'an unspecified address'],
    ['https://[::]/', 'an unspecified address'],
    ['https://inside.example.com/', 'a private address'],
    ['https://both.example.com/', 'a private address'],
    ['https://metadata.example.com/', 'a link-local address'],
    ['http://10.0.0.1/', 'a private address'],
    ['http://93.184.216.34/', 'does not encrypt'],
    ['http://public.example.com/', 'does not encrypt'],
    ['http://not-known-yet.example.com/', 'does not resolve'],
  ])('must not be %s', async (url, why) => {
    const { status, body } = await register(url);
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ pointer: '#/url', detail: expect.stringContaining(why) }]);
  });
});
