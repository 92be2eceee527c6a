import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { asOneSegment, asSegments, parseLockPath } from '../../src/interface/lock-path.ts';
import { problemMediaType } from '../../src/interface/problem.ts';
import { readAudit } from '../../src/service/audit/audit.ts';
import { pathLike } from '../interface/texts.ts';
import { leaveOut } from '../support/left-out.ts';
import { freePort } from '../support/listen.ts';
import { type OtherServer, openOtherServer } from '../support/other-servers/other-server.ts';
import { nothing, reset } from '../support/other-servers/responses.ts';
import { passOn } from '../support/other-servers/slash-proxies.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import {
  caddyWithSecond,
  nginxWithSecond,
  type Product,
  products,
  programOf,
  type ReverseProxy,
  startReverseProxy,
} from '../support/reverse-proxy.ts';
import { startJob } from '../support/runner/start-job.ts';
import { runs } from '../support/runs.ts';
import { selfSigned } from '../support/self-signed.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { selfHosting, snippetWith } from './pages.ts';

const { cert, key } = selfSigned('localhost');

/** The setting that the page shows. */
const [, trustedProxy = ''] =
  /^WORKSPACE_SERVICE_TRUSTED_PROXY=(.*)$/m.exec(snippetWith(selfHosting, 'TRUSTED_PROXY=')) ?? [];

const service = serviceOfTests({ trustedProxies: [trustedProxy] });
let token: string;
const folder = folderOfTests();
const certificate = join(folder, 'certificate.pem');

beforeAll(async () => {
  await writeFile(certificate, cert);
  token = (await service.token({ name: 'ada' })).secret;
});

/** Paths that a proxy could decode, merge, cut off or resolve. */
const awkwardPaths = [
  'Content/Hero.uasset',
  'Content/My Hero #1?.uasset',
  'Content/100%.uasset',
  'Content/a%2Fb.uasset',
  'Content/%252e%252e/%00.uasset',
  'Content/Größe & Maß+1;v=2.uasset',
  'Content/[Rock] "big" {1}|~.fbx',
  '...',
];

interface Sent {
  /** The IP address of this machine to send from. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly raw?: string;
}

/** Sends the target unchanged to a proxy on this port. */
async function sendTo(port: number, method: string, target: string, { from, headers, json, raw }: Sent = {}) {
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
  const sent = request({
    method,
    host: '127.0.0.1',
    servername: 'localhost',
    port,
    path: target,
    ca: cert,
    agent: false,
    ...(from !== undefined && { localAddress: from }),
    headers: {
      host: `localhost:${port}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const content = await text(response);
  const isJson = response.headers['content-type']?.includes('json') === true;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: content,
    body: isJson ? JSON.parse(content) : null,
  };
}

describe.each(products.map((product) => ({ product, name: product.name })))('behind $name', ({ product, name }) => {
  let proxy: ReverseProxy;
  let tap: OtherServer;
  const isThere = programOf(product) !== undefined;

  beforeAll(async () => {
    if (!isThere) return undefined;
    tap = await openOtherServer(passOn(service.port));
    proxy = await startReverseProxy(product, { servicePort: tap.port, cert, key });
    return async () => {
      await proxy.stop();
      await tap.close();
    };
  });
  beforeEach((context) => {
    if (!isThere) leaveOut(context, `There is no ${name} on this machine.`);
    tap.requests.splice(0);
  });

  const send = (method: string, target: string, { headers, ...sent }: Sent = {}) =>
    sendTo(proxy.port, method, target, { ...sent, headers: { authorization: `Bearer ${token}`, ...headers } });

  const lockOf = (path: string) => ({ path, type: 'exclusive', ttl: '1h' });
  const locked = async (workspace: string): Promise<string[]> => {
    const { body } = await service.ask('GET', `/v1/workspaces/${workspace}/locks`, { token });
    return body.locks.map(({ path }: { path: string }) => path);
  };

  test('a job locks every valid path, and its post-step releases it', async () => {
    const workspace = await service.workspace();
    const job = await startJob({
      env: {
        NODE_EXTRA_CA_CERTS: certificate,
        WORKSPACE_BASE_URL: `${proxy.origin}/v1`,
        WORKSPACE_TOKEN: token,
        WORKSPACE_ID: workspace,
      },
      secrets: [token],
    });
    const lock = { operation: 'lock', glob: 'false', path: awkwardPaths.join('\n') };
    expect(await job.run({ with: lock })).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await locked(workspace)).toEqual(awkwardPaths.toSorted());
    tap.requests.splice(0);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await locked(workspace)).toEqual([]);
    // One request releases the lease.
    expect(tap.requests.map(({ method }) => method)).toEqual(['DELETE']);
  });

  test('a request target arrives byte for byte', async () => {
    const workspace = await service.workspace();
    const lockPath = pathLike.map(parseLockPath).filter((parsed) => parsed.ok);
    await fc.assert(
      fc.asyncProperty(lockPath, fc.boolean(), async ({ value }, encoded) => {
        const path = encoded ? asOneSegment(value) : asSegments(value);
        const target = `/v1/workspaces/${workspace}/locks/${path}?force=%66alse&x=a%2Fb+c`;
        tap.requests.splice(0);
        const { status, headers } = await send('DELETE', target);
        // The service has no parameter x.
        expect({ status, type: headers['content-type'] }).toEqual({ status: 422, type: problemMediaType });
        expect(tap.requests.map(({ url }) => url)).toEqual([target]);
      }),
      { numRuns: runs(30, 1_000) },
    );
  });

  test('a lock is renewed and released by its ETag, and by no other', async () => {
    const workspace = await service.workspace();
    const locks = `/v1/workspaces/${workspace}/locks`;
    const [, , path = ''] = awkwardPaths;
    // A client that accepts compressed responses must get the same ETag.
    const headers = { 'accept-encoding': 'gzip, br, zstd' };
    const { etag = '' } = (await send('POST', locks, { json: lockOf(path), headers })).headers;
    const renewed = await send('POST', locks, { json: lockOf(path), headers: { ...headers, 'if-match': etag } });
    expect(renewed).toMatchObject({ status: 200, headers: { etag } });
    const target = `${locks}/${encodeURIComponent(path)}`;
    expect((await send('DELETE', target, { headers: { 'if-match': '"lock_other"' } })).status).toBe(412);
    expect(await locked(workspace)).toEqual([path]);
    expect(await send('DELETE', target, { headers: { 'if-match': etag } })).toMatchObject({ status: 204, text: '' });
    expect(await locked(workspace)).toEqual([]);
  });

  test('a body of 1 MiB reaches the service, which refuses a larger one', async () => {
    const workspace = await service.workspace();
    const locks = `/v1/workspaces/${workspace}/locks`;
    const body = JSON.stringify({ ...lockOf('Content/Large.uasset'), padding: '' });
    const ofSize = (bytes: number): string =>
      body.replace('"padding":""', `"padding":"${'x'.repeat(bytes - body.length)}"`);
    expect((await send('POST', locks, { raw: ofSize(1_048_576) })).status).toBe(201);
    for (const bytes of [1_048_577, 4_000_000]) {
      const { status, headers, body: problem } = await send('POST', locks, { raw: ofSize(bytes) });
      expect({ status, type: headers['content-type'] }).toEqual({ status: 413, type: problemMediaType });
      expect(problem.detail).toContain('1048576');
    }
  });

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['sends an incomplete list of addresses', { 'x-forwarded-for': '198.51.100.1,' }],
    ['declares the header hop-by-hop', { connection: 'close, X-Forwarded-For' }],
  ])('the service sees the real IP address of a client that %s', async (_, headers) => {
    const from = '127.0.0.9';
    const workspace = await service.workspace();
    const { secret: holder } = await service.token({ name: 'holder' });
    const locks = `/v1/workspaces/${workspace}/locks`;
    await service.ask('POST', locks, { token: holder, json: lockOf('Content/Hero.uasset') });
    const target = `${locks}/Content%2FHero.uasset?force=true`;
    expect((await send('DELETE', target, { from, headers })).status).toBe(204);
    const { entries } = await readAudit(service.storage, { limit: 1 });
    expect(entries).toMatchObject([{ action: 'lock.force-released', actor: 'ada', address: from }]);
  });

  test('the log of the proxy has the request id of the service, and no token, query or referrer', async () => {
    const { headers } = await send('GET', '/v1/workspaces?token=hidden-query', {
      headers: { referer: 'https://localhost/sign-in?link=hidden-referrer' },
    });
    const id = String(headers['x-request-id']);
    expect(service.log()).toContain(id);
    // The proxy writes the line shortly after the response.
    const log = await expect.poll(proxy.log).toContain(id).then(proxy.log);
    expect(log).toContain('/v1/workspaces');
    expect(log).not.toContain(token);
    expect(log).not.toContain('hidden');
  });
});

/** An instance that records its requests, and may then break the connection. */
async function startInstance({ breaks = false, isReady = true } = {}) {
  const received: string[] = [];
  const instance = { received, isReady };
  const { port } = await startOtherServer((response, request) => {
    if (request.url === '/readyz') {
      nothing(instance.isReady ? 200 : 503)(response, request);
      return;
    }
    received.push(request.method);
    (breaks ? reset : nothing(200))(response, request);
  });
  return Object.assign(instance, { port });
}

async function startProxy(product: Product, servicePort: number): Promise<(method: string) => Promise<number>> {
  const proxy = await startReverseProxy(product, { servicePort, cert, key });
  onTestFinished(proxy.stop);
  return async (method) => {
    const raw = method === 'POST' ? 'x'.repeat(100_000) : '';
    return (await sendTo(proxy.port, method, '/v1/a%2Fb', { raw })).status;
  };
}

describe.each([
  ['nginx', nginxWithSecond],
  ['Caddy', caddyWithSecond],
])('%s in front of two instances', (name, withSecond) => {
  beforeEach((context) => {
    if (programOf(withSecond(0)) === undefined) leaveOut(context, `There is no ${name} on this machine.`);
  });

  test.each(['GET', 'POST', 'DELETE'])(
    'passes each %s to the other instance while one refuses connections',
    async (method) => {
      const { port, received } = await startInstance();
      for (const [first, second] of [
        [await freePort(), port],
        [port, await freePort()],
      ] as const) {
        const send = await startProxy(withSecond(second), first);
        for (let times = 0; times < 6; times += 1) expect(await send(method)).toBe(200);
      }
      expect(received).toEqual(Array.from({ length: 12 }, () => method));
    },
  );

  test.each(['POST', 'DELETE'])('does not repeat a %s whose response was lost', async (method) => {
    const instances = [await startInstance({ breaks: true }), await startInstance({ breaks: true })] as const;
    const send = await startProxy(withSecond(instances[0].port), instances[1].port);
    expect(await send(method)).toBe(502);
    expect(instances.flatMap(({ received }) => received)).toEqual([method]);
  });
});
