import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { connectRaw, type RawAnswer, writeRequest } from '../support/raw-http.ts';
import { callsTo, startService } from './service-calls.ts';

const run = promisify(execFile);

const limited = (files: number): readonly string[] => ['prlimit', `--nofile=${files}:${files}`];

const noLimits = async (): Promise<string | undefined> =>
  run('prlimit', ['--version']).then(
    () => undefined,
    () => 'There is no prlimit on this machine.',
  );

test('serves open connections while no more files can be opened, and new ones after they close', async (context) => {
  const reason = await noLimits();
  if (reason !== undefined) leaveOut(context, reason);
  const service = await startService({ through: limited(64) });
  const port = Number(new URL(service.baseUrl).port);
  const { lock, sync, metric } = callsTo(service);

  const first = await connectRaw(port);
  const url = `/v1/workspaces/${service.workspace}`;
  const over = async (method: string, target: string, json?: unknown): Promise<RawAnswer> => {
    const body = json === undefined ? {} : { headers: ['Content-Type: application/json'], body: JSON.stringify(json) };
    await first.send(writeRequest({ method, target, token: service.token, ...body }));
    return first.response();
  };
  expect((await over('GET', '/healthz')).status).toBe(200);
  const others = await Promise.all(Array.from({ length: 200 }, () => connectRaw(port)));
  let closed = 0;
  for (const other of others) void other.closed.then(() => (closed += 1));
  await expect.poll(() => closed).toBeGreaterThan(150);

  const cpu = async () =>
    Number(/^process_cpu_seconds_total (\S+)/m.exec((await over('GET', '/metrics')).text)?.[1] ?? Number.NaN);
  const cpuBefore = await cpu();
  const locked = await over('POST', `${url}/locks`, { path: 'meanwhile', type: 'exclusive', ttl: '1h' });
  expect(locked.status).toBe(201);
  const { headers, status } = await over('POST', `${url}/sync`, { branch: 'main' });
  expect(status).toBe(202);
  const syncNow = async () => (await over('GET', headers.get('location') ?? '')).body;
  await expect.poll(async () => (await syncNow()).status, { timeout: 30_000 }).toBe('succeeded');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  // A server that repeatedly failed to accept a connection would use all of that second.
  measured('CPU time per second without free file descriptors (s)', (await cpu()) - cpuBefore, { atMost: 0.9 });

  for (const connection of [first, ...others]) connection.close();
  await expect
    .poll(() => lock('afterwards').then((response) => response.status, String), { timeout: 20_000 })
    .toBe(201);
  expect((await sync()).status).toBe('succeeded');
  const dropped = await metric('workspace_http_connections_dropped_total');
  measured('connections dropped for lack of file descriptors', dropped, { atLeast: 150 });
});
