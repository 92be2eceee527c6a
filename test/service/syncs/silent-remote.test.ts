import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseKinds, temporaryDataFolder } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

let service: RunningService;
let token: string;
let honest: string;
let folder: Awaited<ReturnType<typeof temporaryDataFolder>>;
const sockets = new Set<Socket>();
const silent = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
});

beforeAll(async () => {
  const [kind] = databaseKinds;
  if (kind === undefined) throw new Error('There is no database to test on.');
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  folder = await temporaryDataFolder();
  const repository = createRepository(folder.folder);
  repository.commit({ branch: 'main', files: { a: '1' } });
  service = await startTestService(kind);
  token = (await service.token({ scopes: ['sync'] })).secret;
  honest = await service.workspace(`file://${repository.path}`);
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await service.stop();
  await folder.remove();
});

function silentWorkspace(): Promise<string> {
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return service.workspace(`https://127.0.0.1:${port}/assets.git`);
}

const branches = (workspace: string) => service.ask('GET', `/v1/workspaces/${workspace}/branches`, { token });
const trigger = (workspace: string, branch: string) =>
  service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch } });
const statusOf = async (location: string | null) => (await service.ask('GET', location ?? '', { token })).body.status;

test('a hundred lists of a remote that is silent leave others theirs, and none waits for its turn beyond 5 s', async () => {
  const workspace = await silentWorkspace();
  const began = performance.now();
  const lists = Array.from({ length: 100 }, () => branches(workspace));
  const others = await branches(honest);
  expect([others.status, others.body.branches.length]).toEqual([200, 1]);
  // It has places of its own: what it takes is git, not the ten seconds of a remote that is silent.
  expect(performance.now() - began).toBeLessThan(5_000);
  const answers = await Promise.all(lists);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers.filter(({ headers }) => headers.get('retry-after') === '5').length).toBeGreaterThan(80);
});

test('the syncs of a remote that is silent do not keep those of others waiting', async () => {
  const workspace = await silentWorkspace();
  const stuck = await Promise.all(['main', 'art', 'release'].map((branch) => trigger(workspace, branch)));
  const statuses = () => Promise.all(stuck.map(({ headers }) => statusOf(headers.get('location'))));
  await expect.poll(statuses, { timeout: 20_000 }).toEqual(expect.arrayContaining(['running', 'running', 'queued']));
  const { headers } = await trigger(honest, 'main');
  await expect.poll(() => statusOf(headers.get('location')), { timeout: 20_000 }).toBe('succeeded');
  expect(await statuses()).toEqual(expect.arrayContaining(['running', 'running', 'queued']));
});
