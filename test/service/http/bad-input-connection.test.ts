import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { askRaw, connectRaw, requestRaw, writeRequest } from '../../support/raw-http.ts';
import { serveApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { sharedService } from './shared-service.ts';

const mebibyte = 1024 * 1024;

/** Errors that occur before a request is complete. */
describe('bad input on the wire', () => {
  const service = sharedService();
  afterAll(async () => {
    expect((await service.ask('GET', '/readyz')).status).toBe(200);
    // Whatever clients do, it is not an error of the service.
    expect(service.log()).not.toContain('"level":50');
  });

  async function connected() {
    const connection = await connectRaw(service.port);
    onTestFinished(connection.close);
    return connection;
  }
  const locksTarget = () => `/v1/workspaces/${service.home}/locks`;
  let locks = 0;
  const lockBody = (size?: number) => {
    locks += 1;
    const body = { path: `wire/${locks}`, type: 'exclusive', ttl: '1h', padding: '' };
    const padding = size === undefined ? '' : ' '.repeat(size - JSON.stringify(body).length);
    return JSON.stringify({ ...body, padding });
  };
  const postLock = (body: string, ...headers: readonly string[]) =>
    writeRequest({
      method: 'POST',
      target: locksTarget(),
      token: service.secret,
      headers: ['Content-Type: application/json', ...headers],
      body,
    });
  const inChunks = (body: string) =>
    postLock(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked');
  const health = writeRequest({ target: '/healthz' });

  test.each([
    'hello\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'FROBNICATE /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /healthz\u0000 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: a\u0000b\r\n\r\n',
    'POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
    'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ])('bytes that are not a request get 400, and the connection is closed: %j', async (bytes) => {
    const connection = await connected();
    await connection.send(Buffer.from(bytes, 'latin1'));
    expectProblem(await connection.response(), 'malformed-request');
    await connection.closed;
  });

  test('headers that are too large get 431', async () => {
    const long = 'a'.repeat(20_000);
    const many = Array.from({ length: 200 }, (_, index) => `X-${index}: ${'a'.repeat(100)}`);
    for (const [target, ...headers] of [['/healthz', `X-A: ${long}`], ['/healthz', ...many], [`/${long}`]] as const) {
      expectProblem(await requestRaw(service.port, { target, headers }), 'headers-too-large');
    }
  });

  test.each([
    ['none', []],
    ['two', ['Host: a', 'Host: b']],
    ['with a space', ['Host: a b']],
    ['with a path', ['Host: a/b']],
    ['with a user', ['Host: user@a']],
    ['with an invalid port', ['Host: a:b']],
    ['with an incomplete address', ['Host: [::1']],
    ['a list', ['Host: a, b']],
  ])('an invalid Host header gets 400: %s', async (_name, hosts) => {
    const bytes = ['GET /healthz HTTP/1.1', ...hosts, '', ''].join('\r\n');
    const { detail } = expectProblem(await askRaw(service.port, bytes), 'malformed-request');
    expect(detail).toContain('Host');
  });

  describe.each([
    ['with its length', (body: string) => postLock(body)],
    ['in chunks', inChunks],
  ])('a body that is sent %s', (_name, bytesOf) => {
    test('may have one mebibyte, and gets 413 with one byte more', async () => {
      expect((await askRaw(service.port, bytesOf(lockBody(mebibyte)))).status).toBe(201);
      expectProblem(await askRaw(service.port, bytesOf(lockBody(mebibyte + 1))), 'body-too-large');
    });

    test('gets 413 with ten mebibytes, is read to its end, and its connection stays usable', async () => {
      const connection = await connected();
      // Sends the complete body before reading the response, as many clients do.
      await connection.send(bytesOf(lockBody(10 * mebibyte)));
      expectProblem(await connection.response(), 'body-too-large');
      await connection.send(health);
      expect((await connection.response()).status).toBe(200);
    });
  });

  describe('a body', () => {
    test('is refused before it is read if the request has no token', async () => {
      const headers = [`Content-Length: ${10 * mebibyte}`];
      expectProblem(await requestRaw(service.port, { method: 'POST', target: locksTarget(), headers }), 'unauthorized');
    });

    test('has no effect if it ends too early', async () => {
      const connection = await connected();
      await connection.send(postLock('', 'Expect: 100-continue', 'Content-Length: 100'));
      // Otherwise the client could be gone before its request is started.
      expect((await connection.response()).status).toBe(100);
      await connection.send('{"path":"early","type":"exclusive","ttl":"1h"');
      connection.close();
      await expect.poll(() => service.log()).toContain('"status":408');
      const { body } = await service.ask('GET', `${locksTarget()}?path=early`, { token: service.secret });
      expect(body.locks).toEqual([]);
    });
  });
});

describe('a slow client', () => {
  let server: Awaited<ReturnType<typeof serveApp>>;
  let token: string;
  beforeAll(async () => {
    server = await serveApp({}, { timeouts: { headersMs: 100, requestMs: 150, checkEveryMs: 20 } });
    token = await server.token('locks:write');
  });
  afterAll(() => server.stop());

  const cutOff = { method: 'POST', target: '/v1/workspaces/w/locks', body: '{' };
  const headers = ['Content-Type: application/json', 'Content-Length: 10'];
  test.each([
    ['with the first byte', () => ''],
    ['with the headers', () => 'GET /healthz HTTP/1.1\r\nHost: a\r\n'],
    ['with the body', () => writeRequest({ ...cutOff, token, headers })],
  ])('gets 408 if it is late %s, and is disconnected', async (_name, bytes) => {
    const connection = await connectRaw(server.port);
    await connection.send(bytes());
    expectProblem(await connection.response(), 'request-timeout');
    await connection.closed;
    await expect(connection.response()).rejects.toThrow();
  });
});
