import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Hono } from 'hono';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { connectionLimit, openFilesLimit } from '../../../src/service/http/connections.ts';
import type { Environment } from '../../../src/service/http/context.ts';
import { reportEvents } from '../../../src/service/http/server.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { startAppServer } from '../../support/app-server.ts';
import { sqlite } from '../../support/databases.ts';
import { askRaw, connectRaw, requestRaw, writeRequest } from '../../support/raw-http.ts';
import { startTestService } from '../../support/running-service.ts';
import { describedApp, serveApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { sharedService } from './shared-service.ts';

/** Sends the text, and then neither reads nor closes, like a client that wants to occupy a connection. */
async function hold(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('a server with misbehaving clients', () => {
  const metrics = createMetrics();
  let server: Awaited<ReturnType<typeof startAppServer>>;
  let written: string[];

  /** A client that is silent for so long is disconnected. */
  async function start(silenceMs: number) {
    metrics.registry.resetMetrics();
    // A server before this one may still write to its own.
    const own: string[] = [];
    written = own;
    const log = pino({}, { write: (line: string) => own.push(line) });
    server = await startAppServer(describedApp({ log, metrics }), {
      timeouts: { checkEveryMs: 100, silenceMs },
      events: reportEvents(log, metrics, () => 0),
      maxConnections: 12,
    });
  }
  beforeEach(() => start(60_000));
  afterEach(() => server.close({ idleMs: 0, requestsMs: 0 }));
  async function restart(silenceMs: number) {
    await server.close({ idleMs: 0, requestsMs: 0 });
    await start(silenceMs);
  }

  const lines = () => written.map((line) => JSON.parse(line));
  const unreadable = () => lines().filter(({ msg }) => msg === 'unreadable request');
  const counted = async (name: string, status?: number) => {
    const values = (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
    return values.find(({ labels }) => status === undefined || labels['status'] === status)?.value;
  };
  const status = async (): Promise<number> => (await requestRaw(server.port, { target: '/healthz' })).status;

  test.each(['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`])(
    'closes a connection that its client keeps open after a refusal: %#',
    async (text) => {
      await restart(300);
      const socket = await hold(server.port, text);
      let answered = '';
      socket.on('data', (more) => {
        answered += more;
      });
      await once(socket, 'end');
      expect(answered).toMatch(/^HTTP\/1\.1 4(00|31) /);
      const sendMore = (): boolean => {
        socket.write('more');
        return socket.destroyed;
      };
      // Data sent to a closed connection is answered with a reset.
      await expect.poll(sendMore).toBe(true);
    },
  );

  test('disconnects a client that never reads its responses', async () => {
    await restart(300);
    const socket = await hold(server.port, '');
    socket.pause();
    const document = writeRequest({ target: '/v1/openapi.json' });
    const asked = setInterval(() => socket.write(document), 1);
    await new Promise((resolve) => socket.once('close', resolve)).finally(() => clearInterval(asked));
  });

  test('counts each refusal, and logs it with its request id', async () => {
    const bad = await askRaw(server.port, 'nonsense\r\n\r\n');
    const large = await requestRaw(server.port, { target: '/healthz', headers: [`X-A: ${'a'.repeat(20_000)}`] });
    expectProblem(bad, 'malformed-request');
    expectProblem(large, 'headers-too-large');
    const common = { level: 30, origin_address: '127.0.0.1' };
    expect(unreadable()).toMatchObject([
      { ...common, status: 400, code: 'HPE_INVALID_METHOD', request_id: bad.body.request_id },
      { ...common, status: 431, code: 'HPE_HEADER_OVERFLOW', request_id: large.body.request_id },
    ]);
    expect(await counted('workspace_http_unreadable_total', 400)).toBe(1);
    expect(await counted('workspace_http_unreadable_total', 431)).toBe(1);
  });

  test('counts all of many refusals, but does not log all of them', async () => {
    for (let index = 0; index < 250; index += 1) await askRaw(server.port, '\u001b[2Jnonsense\r\n\r\n');
    expect(await counted('workspace_http_unreadable_total', 400)).toBe(250);
    expect(unreadable().length).toBe(100);
    expect(written.join('')).not.toContain('nonsense');
  });

  test('reads a header after thousands of others', async () => {
    const many = Array.from({ length: 2_500 }, () => 'a:');
    const headers = [...many, 'Authorization: Bearer nonsense'];
    const response = await requestRaw(server.port, { target: '/v1/workspaces', headers });
    expect(expectProblem(response, 'unauthorized').detail).toBe('Unknown API token.');
  });

  test('serves connections up to its limit, closes and counts further ones, and then has room again', async () => {
    const open = [];
    while (open.length < 12) open.push(await connectRaw(server.port));
    await (await connectRaw(server.port)).closed;
    expect(await counted('workspace_http_connections_dropped_total')).toBe(1);
    expect(lines().filter(({ msg }) => String(msg).includes('too many')).length).toBe(1);
    for (const connection of open) {
      await connection.send(writeRequest({ target: '/healthz', headers: ['Connection: close'] }));
      expect((await connection.response()).status).toBe(200);
      connection.close();
    }
    await expect.poll(() => status().catch(() => 'closed')).toBe(200);
  });
});

test('most of the open files of a process can be connections, up to a limit', () => {
  const openFiles = [64, 1_024, 20_000, 1_048_576, Number.POSITIVE_INFINITY];
  expect(openFiles.map(connectionLimit)).toEqual([16, 768, 19_744, 20_000, 20_000]);
  expect(openFilesLimit()).toBeGreaterThanOrEqual(64);
});

const service = sharedService();

const requestOf = (target: string) =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.secret}\r\n\r\n`;

const begun = (marker: string): number => {
  const lines = service.log().split('\n');
  return lines.filter((line) => line.includes('"request"') && line.includes(marker)).length;
};

test('a client is disconnected if it sends far more requests than it reads responses', async () => {
  const connection = await connectRaw(service.port);
  await connection.send(requestOf('/v1/x').repeat(2_000)).catch(() => undefined);
  await connection.closed;
  expect(begun('"/v1/x"')).toBeLessThan(200);
  expect((await service.ask('GET', '/healthz')).status).toBe(200);
});

/** Sends a request without its body, and waits until the service asks for the body. */
async function beginLock(port: number, token: string, target: string) {
  const body = JSON.stringify({ path: 'a', type: 'exclusive', ttl: '1h' });
  const connection = await connectRaw(port);
  const headers = ['Content-Type: application/json', 'Expect: 100-continue', `Content-Length: ${body.length}`];
  await connection.send(writeRequest({ method: 'POST', target, token, headers }));
  expect((await connection.response()).status).toBe(100);
  return { connection, body };
}

const idle = async (port: number) => {
  const connection = await connectRaw(port);
  await connection.send(writeRequest({ target: '/healthz' }));
  expect((await connection.response()).status).toBe(200);
  return connection;
};

test('stopping first makes readiness fail, then refuses new connections, but serves requests on open ones', async () => {
  const service = await startTestService(sqlite, { drainDelay: { seconds: 1 } });
  const { secret } = await service.token();
  const target = `/v1/workspaces/${await service.workspace()}/locks`;
  const kept = await idle(service.port);
  const running = await beginLock(service.port, secret, target);

  const stopped = service.stop();
  // All at once, while new connections are still accepted. A proxy may open one, and send its request afterwards.
  const [readiness, served, late] = await Promise.all([
    service.ask('GET', '/readyz'),
    service.ask('GET', target, { token: secret }),
    connectRaw(service.port),
  ]);
  expect([readiness.status, served.status]).toEqual([503, 200]);
  const refusal = async () => connectRaw(service.port).then(({ close }) => close(), String);
  await expect.poll(refusal, { interval: 20 }).toContain('ECONNREFUSED');

  const listed = [];
  for (const connection of [kept, late]) {
    await connection.send(writeRequest({ target, token: secret }));
    listed.push(await connection.response());
  }
  await running.connection.send(running.body);
  expect((await running.connection.response()).status).toBe(201);
  // The client must send its next request elsewhere.
  for (const { status, headers } of listed) expect([status, headers.get('connection')]).toEqual([200, 'close']);
  await stopped;
});

test('stopping closes a connection at the end of a response that began before, without waiting for the client', async () => {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  async function* parts(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from('begun');
    await isOver;
  }
  const app = new Hono<Environment>().get('/', () => new Response(ReadableStream.from(parts())));
  const server = await startAppServer(app);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const [response] = (await once(get({ port: server.port, agent }), 'response')) as [IncomingMessage];
  const silent = await connectRaw(server.port);

  const closed = server.close({ idleMs: 0, requestsMs: 60_000 });
  // All idle connections are closed first.
  await silent.closed;
  end();
  expect(await text(response)).toBe('begun');
  await closed;
});

test('stopping does not wait forever: requests that take too long are cut off', async () => {
  const server = await serveApp();
  const { connection } = await beginLock(server.port, await server.token('locks:write'), '/v1/workspaces/w/locks');
  await server.close({ idleMs: 0, requestsMs: 20 });
  await connection.closed;
  await server.stop();
});
