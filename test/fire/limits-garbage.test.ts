import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { percentileOf } from '../../bench/statistics.ts';
import { measured } from '../soak/measured.ts';
import { ask } from '../support/running-service.ts';
import { runs } from '../support/runs.ts';
import { printedSeed, randomOf } from '../support/seed.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { type Aim, type Garbage, garbage, kindsOfGarbage } from './garbage.ts';
import { sendGarbage } from './send-garbage.ts';
import { callsTo, startService } from './service-calls.ts';

const soak = process.env['SOAK'] === '1';
const requests = runs(3_000, 100_000);
const atOnce = 32;
/** The number of held connections of each kind. */
const held = runs(20, 300);

/** The way a client occupies a connection that it does not use. */
interface Hold {
  readonly first: string;
  /** Data that is sent periodically, so that the connection does not look idle; nothing if undefined. */
  readonly drip?: string;
}

/** Many slow connections that stay open until the test ends, even if the server asks their clients to close them. */
async function holdConnections(port: number, { first, drip }: Hold) {
  const open = new Set<Socket>();
  const answers: string[] = [];
  const sockets = await Promise.all(
    Array.from({ length: held }, async () => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      open.add(socket);
      socket.write(first);
      socket.once('data', (bytes: Buffer) => answers.push(bytes.toString('latin1').split('\r\n')[0] ?? ''));
      for (const end of ['end', 'close']) socket.once(end, () => open.delete(socket));
      return socket;
    }),
  );
  const dripping = setInterval(() => {
    if (drip !== undefined) for (const socket of open) socket.write(drip);
  }, 500);
  function close(): void {
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
  }
  onTestFinished(close);
  return {
    /** The number of connections that the other side has not ended. */
    open: () => open.size,
    /** The responses, by their status line. */
    answers,
    close,
  };
}

/** Locks, lists, gets refused and releases all the time, and checks every response. */
function startGoodClient({ baseUrl, token, workspace }: ServiceProcess, pauseMs: number) {
  /** Milliseconds that each request took. */
  const took: number[] = [];
  /** Results that differ from the expected ones. */
  const wrong: string[] = [];
  let stopped = false;
  const url = `/workspaces/${workspace}/locks`;

  async function expectStatus(status: number, method: string, path: string, json?: unknown) {
    const began = performance.now();
    const reply = await ask(baseUrl, method, path, { token, ...(json !== undefined && { json }) });
    took.push(performance.now() - began);
    if (reply.status !== status) wrong.push(`${method} ${path}: ${reply.status} in place of ${status}: ${reply.text}`);
    return reply;
  }

  async function lockAndRelease(index: number): Promise<void> {
    const json = { path: `good/${index}`, type: 'exclusive', ttl: '1h' };
    const { body } = await expectStatus(201, 'POST', url, json);
    const refused = await expectStatus(409, 'POST', url, json);
    if (refused.body?.lock?.id !== body?.id) wrong.push(`${json.path} is held by ${JSON.stringify(refused.body)}`);
    const listed = await expectStatus(200, 'GET', `${url}?path=${encodeURIComponent(json.path)}`);
    if (listed.body?.locks?.[0]?.id !== body?.id) wrong.push(`${json.path} is listed as ${listed.text}`);
    await expectStatus(204, 'DELETE', `${url}/${encodeURIComponent(json.path)}`);
  }

  async function run(): Promise<void> {
    for (let index = 0; !stopped; index += 1) {
      await lockAndRelease(index).catch((error: unknown) => wrong.push(String(error)));
      await wait(pauseMs);
    }
  }
  const running = run();
  return {
    took,
    wrong,
    /** Resolves when the current round has ended. */
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** Sends this many requests, several in parallel, and returns the unexpected results. */
async function sendAll(
  port: number,
  pieces: Generator<Garbage>,
  count: number,
): Promise<{ readonly sent: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = [];
  let all = 0;
  let left = count;
  async function sendSome(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const { value } = pieces.next();
      if (value === undefined) return;
      const sent = await sendGarbage(port, value);
      all += 1;
      const complaint = (what: string): void => {
        wrong.push(`${value.kind}: ${what}`.slice(0, 1_000));
      };
      if (sent.kind === 'silent') complaint('neither an answer nor an end.');
      if (sent.kind === 'answered' && /^HTTP\/1\.1 5/m.test(sent.text)) complaint(sent.text);
      if (value.expected === 'refused' && (sent.kind !== 'answered' || !/^HTTP\/1\.1 4\d\d /.test(sent.text))) {
        complaint(JSON.stringify(sent).slice(0, 300));
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendSome));
  return { sent: all, wrong };
}

/** Checks the log: complete lines, no control characters, and no more lines than necessary. */
function expectHarmlessLog(log: string): void {
  const lines = log.split('\n').slice(0, -1);
  for (const line of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these characters.
    if (/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029\ufffd]/.test(line)) throw new Error(JSON.stringify(line));
    const { level } = JSON.parse(line);
    if (level >= 50) throw new Error(line);
    expect(line.length).toBeLessThan(6_000);
  }
  const unreadable = lines.filter((line) => line.includes('"unreadable request"'));
  expect(unreadable.length).toBeGreaterThan(0);
  const times = unreadable.map((line) => Date.parse(JSON.parse(line).time) / 1_000);
  const spent = (times.at(-1) ?? 0) - (times[0] ?? 0);
  // A hundred per ten seconds, including the incomplete periods at the start and the end.
  expect(unreadable.length).toBeLessThanOrEqual((spent / 10 + 2) * 100);
}

async function openConnections(service: ServiceProcess): Promise<number> {
  return callsTo(service).metric('nodejs_active_handles', 'type="Socket"');
}

test(`${requests} garbage requests leave nothing behind, and do not disturb other clients`, {
  timeout: runs(60_000, 30 * 60_000),
}, async () => {
  const service = await startService();
  const port = Number(new URL(service.baseUrl).port);
  const { lock, held: locks, metric } = callsTo(service);
  const before = 'held/before';
  expect((await lock(before)).status).toBe(201);
  const base = await openConnections(service);

  const aim: Aim = { workspace: service.workspace, token: service.token, smuggled: 'smuggled' };
  const auth = `Authorization: Bearer ${service.token}\r\n`;
  const slow = await Promise.all([
    holdConnections(port, { first: '' }),
    holdConnections(port, { first: 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n' }),
    holdConnections(port, { first: 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ', drip: 'a' }),
    holdConnections(port, {
      first: `POST /v1/workspaces/${service.workspace}/locks HTTP/1.1\r\nHost: a\r\n${auth}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
      drip: ' ',
    }),
    holdConnections(port, { first: 'nonsense\r\n\r\n' }),
    holdConnections(port, { first: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n' }),
  ]);
  const random = randomOf(printedSeed(`${requests} garbage requests of ${kindsOfGarbage.length} kinds`));
  const good = startGoodClient(service, 20);
  const { sent, wrong } = await sendAll(port, garbage(random, aim), requests);
  await good.stop();

  measured('garbage requests', sent);
  const mistaken = 'garbage that was accepted, unanswered, or answered with 5xx';
  measured(mistaken, wrong.length, wrong.slice(0, 20));
  measured('requests of other clients during garbage', good.took.length);
  measured('wrong responses to other clients during garbage', good.wrong.length, good.wrong.slice(0, 20));
  measured('response time of other clients during garbage, p99', percentileOf(good.took, 99));

  // The service closes held connections; the short run does not wait for its timeouts.
  const [silent, idle, headers, bodies, nonsense, connected] = slow;
  expect([nonsense?.open(), connected?.open()]).toEqual([0, 0]);
  if (soak) {
    for (const each of [silent, idle, headers, bodies])
      await expect.poll(() => each?.open(), { timeout: 60_000 }).toBe(0);
    expect(new Set(idle?.answers)).toEqual(new Set(['HTTP/1.1 200 OK']));
    for (const each of [silent, headers, bodies]) {
      expect(each?.answers.filter((line) => line.startsWith('HTTP/1.1 408 '))).toHaveLength(held);
    }
  } else for (const each of slow) each.close();
  await expect.poll(() => openConnections(service), { timeout: 30_000 }).toBe(base);

  expect(await locks()).toEqual([before]);
  expect(await metric('workspace_http_request_duration_seconds_count', 'status="5')).toBe(0);
  expect(await metric('workspace_http_unreadable_total', 'status="400"')).toBeGreaterThan(requests / 20);
  expect(await metric('workspace_http_unreadable_total', 'status="431"')).toBeGreaterThan(requests / 100);
  expectHarmlessLog(service.command.stderr());
  expect((await ask(service.baseUrl.replace('/v1', ''), 'GET', '/readyz')).status).toBe(200);
  expect(await service.stop()).toBe(0);
});
