import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { maxConnections, openFilesLimit } from '../../../src/service/http/connections.ts';
import { reportEvents } from '../../../src/service/http/report-events.ts';
import { type ListeningServer, startServer } from '../../../src/service/http/server.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { askRaw, connectRaw, requestRaw, writeRequest } from '../../support/raw-http.ts';
import { ask } from '../../support/running-service.ts';
import { describedApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';

/** Sends, and then neither reads on nor closes: what a client does that wants to hold on to a connection. */
async function hold(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('a server among clients that do what they like', () => {
  const metrics = createMetrics();
  let server: ListeningServer;
  let written: string[];
  let held: Socket[];

  beforeEach(async () => {
    written = [];
    held = [];
    metrics.registry.resetMetrics();
    const log = pino({}, { write: (line: string) => written.push(line) });
    server = await startServer(describedApp({ log, metrics }), '127.0.0.1', 0, {
      patience: { headersMs: 5_000, requestMs: 5_000, checkEveryMs: 100, silenceMs: 300 },
      events: reportEvents(log, metrics, () => 0),
      openFiles: 40,
    });
  });
  afterEach(async () => {
    for (const socket of held) socket.destroy();
    await server.close(0);
  });

  const lines = () => written.map((line) => JSON.parse(line));
  const unreadable = () => lines().filter(({ msg }) => msg === 'unreadable request');
  const counted = async (name: string, status?: string) => {
    const values = (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
    return values.find(({ labels }) => status === undefined || labels['status'] === Number(status))?.value;
  };

  test('a connection that was reset after CONNECT is no end of the process', async () => {
    for (let index = 0; index < 100; index += 1) {
      const socket = await hold(server.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
      if (index % 2 === 0) await new Promise(setImmediate);
      socket.resetAndDestroy();
    }
    expect((await requestRaw(server.port, { target: '/healthz' })).status).toBe(200);
  });

  test('the connections of clients that keep them open after a refusal are closed', async () => {
    const refused = [
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
    ];
    await Promise.all(
      refused.map(async (text) => {
        const socket = await hold(server.port, text);
        held.push(socket);
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
        // What is sent to a connection that is gone is answered with a reset.
        await expect.poll(sendMore, { timeout: 20_000 }).toBe(true);
      }),
    );
  });

  test('a client that never reads its answers is let go', async () => {
    const socket = await hold(server.port, '');
    held.push(socket);
    socket.pause();
    const document = writeRequest({ target: '/v1/openapi.json' });
    const asked = setInterval(() => socket.write(document), 1);
    await new Promise((resolve) => socket.once('close', resolve)).finally(() => clearInterval(asked));
  });

  test('each refusal is counted, and has a line with its request id', async () => {
    const bad = await askRaw(server.port, 'nonsense\r\n\r\n');
    const large = await requestRaw(server.port, { target: '/healthz', headers: [`X-A: ${'a'.repeat(20_000)}`] });
    const proxy = await askRaw(server.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    expectProblem(bad, 'malformed-request');
    expectProblem(large, 'headers-too-large');
    expectProblem(proxy, 'malformed-request');
    const common = { level: 30, origin_address: '127.0.0.1' };
    expect(unreadable()).toEqual([
      expect.objectContaining({
        ...common,
        status: 400,
        code: 'HPE_INVALID_METHOD',
        request_id: bad.body.request_id,
      }),
      expect.objectContaining({
        ...common,
        status: 431,
        code: 'HPE_HEADER_OVERFLOW',
        request_id: large.body.request_id,
      }),
      expect.objectContaining({ ...common, status: 400, code: 'CONNECT', request_id: proxy.body.request_id }),
    ]);
    expect(await counted('workspace_http_unreadable_total', '400')).toBe(2);
    expect(await counted('workspace_http_unreadable_total', '431')).toBe(1);
  });

  test('refusals without end are all counted, and not all logged', async () => {
    for (let index = 0; index < 250; index += 1) await askRaw(server.port, '\u001b[2Jnonsense\r\n\r\n');
    expect(await counted('workspace_http_unreadable_total', '400')).toBe(250);
    expect(unreadable().length).toBe(100);
    expect(written.join('')).not.toContain('nonsense');
  });

  test('as many connections as there may be are served, those beyond are closed and counted, and there is room again', async () => {
    const most = maxConnections(40);
    const open = [];
    for (let index = 0; index < most; index += 1) open.push(await connectRaw(server.port));
    const beyond = await connectRaw(server.port);
    await beyond.closed;
    expect(await counted('workspace_http_connections_dropped_total')).toBe(1);
    expect(lines().filter(({ msg }) => String(msg).includes('too many')).length).toBe(1);
    for (const connection of open) {
      await connection.send(writeRequest({ target: '/healthz', headers: ['Connection: close'] }));
      expect((await connection.answer()).status).toBe(200);
      connection.close();
    }
    await expect
      .poll(() =>
        ask(`http://127.0.0.1:${server.port}`, 'GET', '/healthz').then(
          ({ status }) => status,
          () => 'closed',
        ),
      )
      .toBe(200);
  });

  test('a header behind thousands of others counts like any other', async () => {
    const many = Array.from({ length: 2_500 }, () => 'a:');
    const answer = await requestRaw(server.port, {
      target: '/v1/workspaces',
      headers: [...many, 'Authorization: Bearer nonsense'],
    });
    expect(expectProblem(answer, 'unauthorized').detail).toBe('The API token is not known here.');
  });

  test('a path is no longer in the log than it may be', async () => {
    await requestRaw(server.port, { target: `/${'a'.repeat(12_000)}` });
    expect(lines().at(-1).path).toHaveLength(4_096);
  });
});

test.each([
  [64, 16],
  [1_024, 768],
  [20_000, 19_744],
  [1_048_576, 20_000],
  [Number.POSITIVE_INFINITY, 20_000],
])('of %d open files at most, %d are connections', (openFiles, most) => {
  expect(maxConnections(openFiles)).toBe(most);
});

test('the limit of open files is known', () => {
  expect(openFilesLimit()).toBeGreaterThanOrEqual(64);
});
