import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../../src/service/http/rate-limit.ts';
import { type ListeningServer, startServer } from '../../../src/service/http/server.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import type { TestDatabase } from '../../support/databases.ts';
import { askRaw, connectRaw, requestRaw, writeRequest } from '../../support/raw-http.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { describedApp } from './described-app.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { named } from './named.ts';

const mebibyte = 1024 * 1024;

/** What goes wrong before there is a request, or while it is on its way. */
describe.each(anyDatabase)('bad input on the wire', (kind) => {
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
    // Whatever clients do, it is no mistake of the service.
    expect(service.log()).not.toContain('"level":50');
    await service.stop();
  });

  const locksTarget = () => `/v1/workspaces/${workspace}/locks`;
  let locks = 0;
  const lockBody = (size?: number) => {
    locks += 1;
    const body = { path: `wire/${locks}`, type: 'exclusive', ttl: '1h', padding: '' };
    const padding = size === undefined ? '' : ' '.repeat(size - JSON.stringify(body).length);
    return JSON.stringify({ ...body, padding });
  };
  const postLock = (body: string | Uint8Array, headers: readonly string[] = []) =>
    writeRequest({
      method: 'POST',
      target: locksTarget(),
      token,
      headers: ['Content-Type: application/json', ...headers],
      body,
    });
  const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  describe('bytes that are no request are 400, and the connection ends', () => {
    test.each(
      named(
        'hello\r\n\r\n',
        '\u0016\u0003\u0001\u0002\u0000\u0001',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'FROBNICATE /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
        'get /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
        'GET /healthz HTTP/3.7\r\nHost: a\r\n\r\n',
        'GET /health z HTTP/1.1\r\nHost: a\r\n\r\n',
        'GET /healthz\u0000 HTTP/1.1\r\nHost: a\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: a\u0000b\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n',
        'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
        'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
      ),
    )('%s', async (_name, bytes) => {
      const connection = await connectRaw(service.port);
      await connection.send(Buffer.from(bytes, 'latin1'));
      expectProblem(await connection.answer(), 'malformed-request');
      await connection.closed;
      connection.close();
    });

    test('a chunk without a size', async () => {
      const connection = await connectRaw(service.port);
      await connection.send(
        postLock('', ['Transfer-Encoding: chunked']).toString().replace(/$/, 'zz\r\n{}\r\n0\r\n\r\n'),
      );
      expectProblem(await connection.answer(), 'malformed-request');
      await connection.closed;
    });
  });

  test('headers that are too large are 431', async () => {
    const long = 'a'.repeat(20_000);
    const inAll = Array.from({ length: 200 }, (_, index) => `X-${index}: ${'a'.repeat(100)}`);
    expectProblem(
      await requestRaw(service.port, { target: '/healthz', headers: [`X-A: ${long}`] }),
      'headers-too-large',
    );
    expectProblem(await requestRaw(service.port, { target: '/healthz', headers: inAll }), 'headers-too-large');
    expectProblem(await requestRaw(service.port, { target: `/${long}` }), 'headers-too-large');
  });

  test.each([
    ['none', []],
    ['two', ['Host: a', 'Host: b']],
    ['the same twice', ['Host: a', 'Host: a']],
    ['with a space', ['Host: a b']],
    ['with a path', ['Host: a/b']],
    ['with a user', ['Host: user@a']],
    ['with a port that is none', ['Host: a:b']],
    ['with half an address', ['Host: [::1']],
    ['a list', ['Host: a, b']],
  ])('a Host header that is not one is 400: %s', async (_name, hosts) => {
    const bytes = ['GET /healthz HTTP/1.1', ...hosts, '', ''].join('\r\n');
    const { detail } = expectProblem(await askRaw(service.port, bytes), 'malformed-request');
    expect(detail).toContain('Host');
  });

  test.each([
    ['GET /healthz HTTP/1.1\r\nHost: \r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: workspaces.example.com:8080\r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: b%C3%BCcher.example\r\n\r\n'],
    // As simple health checks ask.
    ['GET /healthz HTTP/1.0\r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: the-unexpected\r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'],
  ])('what is unusual but right is answered: %j', async (bytes) => {
    const { status, body, headers } = await askRaw(service.port, bytes);
    expect([status, body]).toEqual([200, { status: 'ok' }]);
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  describe('a body', () => {
    test('of one mebibyte is taken, by its length and in chunks', async () => {
      expect((await askRaw(service.port, postLock(lockBody(mebibyte)))).status).toBe(201);
      const bytes = postLock(chunked(lockBody(mebibyte)), ['Transfer-Encoding: chunked']);
      expect((await askRaw(service.port, bytes)).status).toBe(201);
    });

    test('of one byte more is 413', async () => {
      expectProblem(await askRaw(service.port, postLock(lockBody(mebibyte + 1))), 'body-too-large');
      const bytes = postLock(chunked(lockBody(mebibyte + 1)), ['Transfer-Encoding: chunked']);
      expectProblem(await askRaw(service.port, bytes), 'body-too-large');
    });

    test.each([
      ['its length', () => postLock(lockBody(10 * mebibyte))],
      ['chunks', () => postLock(chunked(lockBody(10 * mebibyte)), ['Transfer-Encoding: chunked'])],
    ])('of ten mebibytes by %s is 413, is read to its end, and the connection goes on', async (_name, bytes) => {
      const connection = await connectRaw(service.port);
      // All of it before a look at the answer, as many clients do.
      await connection.send(bytes());
      expectProblem(await connection.answer(), 'body-too-large');
      await connection.send(writeRequest({ target: '/healthz' }));
      expect((await connection.answer()).status).toBe(200);
      connection.close();
    });

    test('that is announced as too large is not waited for, and may still come later', async () => {
      const connection = await connectRaw(service.port);
      await connection.send(postLock('', [`Content-Length: ${10 * mebibyte}`]));
      expectProblem(await connection.answer(), 'body-too-large');
      // As over a slow line; what cuts unread bodies off does so after half a second.
      await new Promise((resolve) => setTimeout(resolve, 700));
      await connection.send(lockBody(10 * mebibyte));
      await connection.send(writeRequest({ target: '/healthz' }));
      expect((await connection.answer()).status).toBe(200);
      connection.close();
    });

    test('that nobody has a right to send is refused before it is read', async () => {
      const connection = await connectRaw(service.port);
      await connection.send(
        writeRequest({ method: 'POST', target: locksTarget(), headers: [`Content-Length: ${10 * mebibyte}`] }),
      );
      expectProblem(await connection.answer(), 'unauthorized');
      connection.close();
    });

    test('that ends too early changes nothing', async () => {
      const connection = await connectRaw(service.port);
      await connection.send(postLock('{"path":"early","type":"exclusive","ttl":"1h"', ['Content-Length: 100']));
      connection.close();
      await expect.poll(() => service.log()).toContain('"status":408');
      const { body } = await service.ask('GET', `${locksTarget()}?path=early`, { token });
      expect(body.locks).toEqual([]);
    });

    test('comes after 100 Continue when the client asks for it', async () => {
      const connection = await connectRaw(service.port);
      const body = lockBody();
      await connection.send(postLock('', ['Expect: 100-continue', `Content-Length: ${body.length}`]));
      expect((await connection.answer()).status).toBe(100);
      await connection.send(body);
      expect((await connection.answer()).status).toBe(201);
      connection.close();
    });
  });

  test('what comes behind a request and is none does not take the answer to it away', async () => {
    const connection = await connectRaw(service.port);
    const body = lockBody();
    await connection.send(Buffer.concat([postLock(body), Buffer.from('}\r\n\r\n')]));
    expect((await connection.answer()).body.path).toBe(JSON.parse(body).path);
    expectProblem(await connection.answer(), 'malformed-request');
    await connection.closed;
  });

  test('requests that come at once over one connection are answered in their order', async () => {
    const connection = await connectRaw(service.port);
    const [first, second] = [lockBody(), lockBody()];
    await connection.send(
      Buffer.concat([
        postLock(first),
        writeRequest({ method: 'DELETE', target: `${locksTarget()}/../hooks`, token }),
        postLock(second),
        writeRequest({ method: 'HEAD', target: '/healthz' }),
      ]),
    );
    expect((await connection.answer()).body.path).toBe(JSON.parse(first).path);
    expectInvalid(await connection.answer(), '#/path');
    expect((await connection.answer()).body.path).toBe(JSON.parse(second).path);
    expect((await connection.answer({ head: true })).status).toBe(200);
    connection.close();
  });
});

describe.each(anyDatabase)('a client that takes its time', (kind) => {
  let database: TestDatabase;
  let server: ListeningServer;
  let token: string;

  beforeAll(async () => {
    database = await kind.open();
    const { storage } = database;
    const newToken = { name: 'ada', scopes: ['locks:write'], workspaces: null, lifetime: null } as const;
    token = (await storage.commit('global', (db) => createToken(db, storage.now, newToken))).secret;
    const app = describedApp({ storage, rateLimiter: createRateLimiter(null, () => 0) });
    server = await startServer(app, '127.0.0.1', 0, {
      patience: { headersMs: 100, requestMs: 150, checkEveryMs: 20 },
    });
  });
  afterAll(async () => {
    await server.close(0);
    await database.remove();
  });

  test.each([
    ['with anything', () => ''],
    ['with the headers', () => 'GET /healthz HTTP/1.1\r\nHost: a\r\n'],
    [
      'with the body',
      () =>
        writeRequest({
          method: 'POST',
          target: '/v1/workspaces/w/locks',
          token,
          headers: ['Content-Type: application/json', 'Content-Length: 10'],
          body: '{',
        }),
    ],
  ])('%s is told so, and the connection ends', async (_name, bytes) => {
    const connection = await connectRaw(server.port);
    await connection.send(bytes());
    expectProblem(await connection.answer(), 'request-timeout');
    await connection.closed;
    await expect(connection.answer()).rejects.toThrow();
  });
});
