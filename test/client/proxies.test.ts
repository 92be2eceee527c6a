import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startConnectProxy } from '../support/other-servers/connect-proxy.ts';
import type { OtherServerOptions } from '../support/other-servers/other-server.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { selfSigned } from '../support/self-signed.ts';
import { errorOf, game, hero, ofKind, testClient, token } from './test-client.ts';

/** A name that only the proxy resolves: it leads every tunnel to this machine. */
const name = 'assets.example.test';
const fine = json(200, ['game']);

/** The error of a release that certainly did not arrive. */
async function unsent(client: ReturnType<typeof testClient>) {
  const result = await client.releaseLock({ workspace: game, path: hero }, client.within());
  const { error, mayBeDone } = ofKind(result, 'failed');
  expect([error.failure.kind, mayBeDone]).toEqual(['connection', false]);
  return error;
}

beforeEach(() => {
  for (const variable of ['https_proxy', 'http_proxy', 'no_proxy']) {
    for (const spelling of [variable, variable.toUpperCase()]) vi.stubEnv(spelling, undefined);
  }
  return () => vi.unstubAllEnvs();
});

/** A server behind a proxy from the environment, optionally with credentials, and its client. */
async function behindProxy(response = fine, credentials = '', options: OtherServerOptions = {}) {
  const proxy = await startConnectProxy();
  const server = await startOtherServer(response, options);
  const scheme = options.tls === undefined ? 'http' : 'https';
  vi.stubEnv(`${scheme}_proxy`, proxy.address.replace('//', `//${credentials}`));
  return { proxy, server, client: testClient(`${scheme}://${name}:${server.port}/v1`) };
}

describe('a proxy', () => {
  test('is used as a TLS tunnel if https_proxy names it', async () => {
    const tls = selfSigned(name);
    const before = getCACertificates();
    setDefaultCACertificates([...before, tls.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const { proxy, server, client } = await behindProxy(fine, '', { tls });
    for (const _ of [1, 2]) expect((await client.ask()).items).toHaveLength(1);
    expect(client.retries).toEqual([]);
    expect(proxy.asked[0]).toEqual({ target: `${name}:${server.port}`, authorization: undefined });
    expect(proxy.others).toEqual([]);
    const headers = { host: `${name}:${server.port}`, authorization: `Bearer ${token}` };
    expect(server.requests).toMatchObject([1, 2].map(() => ({ url: '/v1/workspaces', headers })));
  });

  test.each(['keep-alive', 'close'])(
    'serves hundreds of concurrent requests, to a server with connection: %s',
    async (connection) => {
      const { server, client } = await behindProxy(json(200, ['game'], { connection }));
      await Promise.all(Array.from({ length: 300 }, () => client.ask()));
      expect(client.retries).toEqual([]);
      expect(server.requests).toHaveLength(300);
    },
  );

  test('receives the credentials in its URL, and the server does not', async () => {
    const { proxy, server, client } = await behindProxy(fine, 'ada:se%3Acret@');
    await client.ask();
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from('ada:se:cret').toString('base64')}`);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test.each([name, '.example.test', 'other.test, example.test', '*'])(
    'is not used if no_proxy is %s',
    async (value) => {
      const { proxy } = await behindProxy();
      vi.stubEnv('no_proxy', value);
      const client = testClient(`http://${name}:1/v1`, { retries: 0 });
      expect((await errorOf(client.ask())).failure.kind).toBe('connection');
      expect(proxy.asked).toEqual([]);
    },
  );

  test('is not used for this machine', async () => {
    const { proxy, server } = await behindProxy();
    await testClient(server.baseUrl).ask();
    expect(proxy.asked).toEqual([]);
  });

  test('is named as the reason if it rejects the request, without its credentials', async () => {
    const proxy = await startConnectProxy({ manner: 407 });
    vi.stubEnv('https_proxy', proxy.address.replace('//', '//ada:secret@'));
    const error = await unsent(testClient(`https://${name}/v1`, { retries: 1 }));
    expect(error.message).toContain(
      'tunneling socket could not be established, statusCode=407 (ECONNRESET). Check the URL',
    );
    expect(error.message).not.toContain('secret');
  });

  test('is limited by the timeout of an attempt if it never responds, and disconnected with the client', async () => {
    const proxy = await startConnectProxy({ manner: 'silent' });
    vi.stubEnv('https_proxy', proxy.address);
    const client = testClient(`https://${name}/v1`, { retries: 0, requestTimeoutMs: 50 });
    expect((await errorOf(client.ask())).failure.kind).toBe('timeout');
    // The proxy runs in this process, which may be too busy to accept the connection before the timeout.
    await expect.poll(() => proxy.sockets.size).toBe(1);
    client.dispose();
    await expect.poll(() => proxy.sockets.size).toBe(0);
  });
});

test('reports an untrusted certificate at once', async () => {
  const { server, client } = await behindProxy(fine, '', { tls: selfSigned(name) });
  const error = await unsent(client);
  expect(error).toMatchObject({ attempts: 1, isTransient: false });
  expect(error.message).toContain('set NODE_EXTRA_CA_CERTS to the file of that CA');
  expect(server.requests).toEqual([]);
});
