import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { selfSigned } from '../service/webhooks/self-signed.ts';
import { json } from '../support/other-servers/answers.ts';
import { startConnectProxy } from '../support/other-servers/connect-proxy.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, testClient, token } from './test-client.ts';

/** A name that only the proxy can find: it leads every tunnel to this machine. */
const name = 'assets.example.test';
const fine = json(200, ['game']);

const variables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];

beforeEach(() => {
  for (const variable of variables) vi.stubEnv(variable, undefined);
  return () => vi.unstubAllEnvs();
});

/** A server with a certificate for the name, which this process trusts or does not. */
async function startHttpsServer({
  trusted,
}: {
  readonly trusted: boolean;
}): Promise<{ readonly port: number; readonly seen: string[] }> {
  const { key, cert } = selfSigned(name);
  if (trusted) {
    const before = getCACertificates();
    setDefaultCACertificates([...before, cert]);
    onTestFinished(() => setDefaultCACertificates(before));
  }
  const seen: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    seen.push(`${request.headers.host} ${request.url} ${request.headers.authorization}`);
    response.end('["game"]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  return { port, seen };
}

describe('a proxy', () => {
  test('in https_proxy is asked for a tunnel, in which nobody can read', async () => {
    const proxy = await startConnectProxy();
    const { port, seen } = await startHttpsServer({ trusted: true });
    vi.stubEnv('https_proxy', proxy.address);
    const client = testClient(`https://${name}:${port}/v1`);
    for (const _ of [1, 2]) expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(client.retries).toEqual([]);
    expect(proxy.asked[0]).toEqual({ target: `${name}:${port}`, authorization: undefined });
    expect(proxy.others).toEqual([]);
    expect(seen).toEqual([1, 2].map(() => `${name}:${port} /v1/workspaces Bearer ${token}`));
  });

  test('in http_proxy is asked for a tunnel too', async () => {
    const proxy = await startConnectProxy();
    const server = await startOtherServer(fine);
    vi.stubEnv('http_proxy', proxy.address);
    const client = testClient(`http://${name}:${server.port}/v1`);
    expect((await client.listWorkspaces(client.within())).items).toHaveLength(1);
    expect(proxy.asked).toEqual([{ target: `${name}:${server.port}`, authorization: undefined }]);
  });

  test.each(['keep-alive', 'close'])(
    'serves hundreds of requests at once, to a server that says %s',
    async (connection) => {
      const proxy = await startConnectProxy();
      const server = await startOtherServer(json(200, ['game'], { connection }));
      vi.stubEnv('http_proxy', proxy.address);
      const client = testClient(`http://${name}:${server.port}/v1`);
      await Promise.all(Array.from({ length: 300 }, () => client.listWorkspaces(client.within())));
      expect(client.retries).toEqual([]);
      expect(server.requests).toHaveLength(300);
    },
  );

  test('is told the credentials in its address, and nobody else is', async () => {
    const proxy = await startConnectProxy();
    const server = await startOtherServer(fine);
    vi.stubEnv('http_proxy', proxy.address.replace('//', '//ada:se%3Acret@'));
    const client = testClient(`http://${name}:${server.port}/v1`);
    await client.listWorkspaces(client.within());
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from('ada:se:cret').toString('base64')}`);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test.each([name, '.example.test', 'other.test, example.test', '*'])(
    'is not asked when no_proxy is %s',
    async (value) => {
      const proxy = await startConnectProxy();
      vi.stubEnv('http_proxy', proxy.address);
      vi.stubEnv('no_proxy', value);
      const client = testClient(`http://${name}:1/v1`, { retries: 0 });
      expect((await errorOf(client.listWorkspaces(client.within()))).failure.kind).toBe('connection');
      expect(proxy.asked).toEqual([]);
    },
  );

  test('is not asked for this machine', async () => {
    const proxy = await startConnectProxy();
    const server = await startOtherServer(fine);
    vi.stubEnv('http_proxy', proxy.address);
    const client = testClient(server.baseUrl);
    await client.listWorkspaces(client.within());
    expect(proxy.asked).toEqual([]);
  });

  test('that refuses is the reason that is given, without its credentials', async () => {
    const proxy = await startConnectProxy({ manner: 407 });
    vi.stubEnv('https_proxy', proxy.address.replace('//', '//ada:secret@'));
    const client = testClient(`https://${name}/v1`, { retries: 1 });
    const error = await errorOf(client.listWorkspaces(client.within()));
    expect(error.failure).toMatchObject({ kind: 'connection', mayHaveArrived: false });
    expect(error.message).toBe(
      'The connection failed: tunneling socket could not be established, statusCode=407 (ECONNRESET) (GET /v1/workspaces, 2 attempts).',
    );
  });

  test('that never answers ends with the limit of an attempt, and its connection with the client', async () => {
    const proxy = await startConnectProxy({ manner: 'silent' });
    vi.stubEnv('https_proxy', proxy.address);
    const client = testClient(`https://${name}/v1`, { retries: 0, requestTimeoutMs: 50 });
    const end = proxy.nextEnd();
    expect((await errorOf(client.listWorkspaces(client.within()))).failure.kind).toBe('timeout');
    client.dispose();
    await end;
  });
});

test('a certificate that is not trusted is named at once', async () => {
  const proxy = await startConnectProxy();
  const { port, seen } = await startHttpsServer({ trusted: false });
  vi.stubEnv('https_proxy', proxy.address);
  const client = testClient(`https://${name}:${port}/v1`);
  const error = await errorOf(client.listWorkspaces(client.within()));
  expect(error.failure).toMatchObject({ kind: 'connection', untrusted: true, mayHaveArrived: false });
  expect(error.message).toBe(
    'The server cannot be trusted, so nothing was sent: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT). If its certificate is from your own authority, name that in NODE_EXTRA_CA_CERTS (GET /v1/workspaces).',
  );
  expect(error.attempts).toBe(1);
  expect(seen).toEqual([]);
});
