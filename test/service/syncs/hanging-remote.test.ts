import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

let service: RunningService;
let token: string;
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
});

beforeAll(async () => {
  const [kind] = databaseKinds;
  if (kind === undefined) throw new Error('There is no database to test on.');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  service = await startTestService(kind, { syncTimeout: { seconds: 2 }, parallelSyncs: 2 });
  token = (await service.token({ scopes: ['sync'] })).secret;
});

afterAll(async () => {
  await service.stop();
  for (const socket of sockets) socket.destroy();
  server.close();
});

function remote(): string {
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/assets.git`;
}

const trigger = (workspace: string) =>
  service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch: 'main' } });

const status = async (location: string | null) => (await service.ask('GET', location ?? '', { token })).body;

test('a remote that does not answer holds up a trigger for 5 s at most; its sync fails at its own limit', async () => {
  const workspace = await service.workspace(remote());
  const began = performance.now();
  const { status: code, body, headers } = await trigger(workspace);
  // The promise is 5 s; what is above it is for a busy test machine.
  expect(performance.now() - began).toBeLessThan(8_000);
  expect([code, body.status, body.estimated_objects]).toEqual([202, 'queued', 0]);
  await expect
    .poll(() => status(headers.get('location')), { timeout: 30_000 })
    .toMatchObject({ status: 'failed', error: expect.stringMatching(/2 s|2s|2 seconds/) });
});

test('so many syncs run at the same time as the operator allows; the others wait their turn', async () => {
  const workspaces = await Promise.all(Array.from({ length: 5 }, () => service.workspace(remote())));
  const replies = await Promise.all(workspaces.map(trigger));
  const locations = replies.map(({ headers }) => headers.get('location'));
  let most = 0;
  await expect
    .poll(
      async () => {
        const syncs = await Promise.all(locations.map(status));
        most = Math.max(most, syncs.filter((sync) => sync.status === 'running').length);
        return syncs.every((sync) => sync.status === 'failed');
      },
      { timeout: 50_000, interval: 50 },
    )
    .toBe(true);
  expect(most).toBe(2);
});
