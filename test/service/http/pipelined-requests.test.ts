import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { connectRaw } from '../../support/raw-http.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { seedManyLocks } from '../dashboard/locked-service.ts';

let service: RunningService;
let token: string;
let workspace: string;

beforeAll(async () => {
  const [kind] = databaseKinds;
  if (kind === undefined) throw new Error('There is no database to test on.');
  service = await startTestService(kind);
  token = (await service.token()).secret;
  workspace = await service.workspace();
  await seedManyLocks(service, workspace, 1_000);
});
afterAll(() => service.stop());

const requestOf = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;

const begun = (marker: string): number =>
  service
    .log()
    .split('\n')
    .filter((line) => line.includes('"request"') && line.includes(marker)).length;

test('what a client sends before it has read is answered in its order, all of it', async () => {
  const connection = await connectRaw(service.port);
  onTestFinished(() => connection.close());
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  await connection.send(names.map((name) => requestOf(`/v1/${name}`)).join(''));
  const details: string[] = [];
  for (const _ of names) details.push((await connection.answer()).body.detail);
  expect(details).toEqual(names.map((name) => `There is nothing at "/v1/${name}".`));
});

test('of a client that does not read no more than a few requests are begun', async () => {
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  // Nobody listens for data, and so nothing is read.
  const target = `/v1/workspaces/${workspace}/locks?limit=1000`;
  const { promise: isStuck, resolve } = Promise.withResolvers<void>();
  void (async () => {
    while (socket.write(requestOf(target).repeat(10))) await pause(1);
    resolve();
  })();
  await Promise.race([isStuck, once(socket, 'close')]);
  // Others have their turn, many times over, while it could go on.
  for (let turn = 0; turn < 50; turn += 1) expect((await service.ask('GET', '/healthz')).status).toBe(200);
  // As many answers as the buffers of the operating system take, a few MB, and one that waits to be sent.
  expect(begun(`/v1/workspaces/${workspace}/locks`)).toBeLessThanOrEqual(16);
});

test('a connection with far more requests than answers is closed', async () => {
  const connection = await connectRaw(service.port);
  await connection.send(requestOf('/v1/x').repeat(2_000)).catch(() => undefined);
  await connection.closed;
  expect(begun('"/v1/x"')).toBeLessThan(200);
  expect((await service.ask('GET', '/healthz')).status).toBe(200);
});
