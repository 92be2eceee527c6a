import { createServer } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { type Listening, listenHere } from '../../support/listen.ts';
import { type RunningServiceOptions, startTestService } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let silent: Listening;
beforeAll(async () => {
  silent = await listenHere(createServer());
  return silent.close;
});

async function start(options: RunningServiceOptions = {}) {
  const service = await startTestService(sqlite, options);
  onTestFinished(service.stop);
  const { secret: token } = await service.token({ scopes: ['sync'] });
  return {
    silentWorkspace: () => service.workspace(`https://127.0.0.1:${silent.port}/assets.git`),
    async honestWorkspace() {
      const repository = createRepository(temporaryFolder());
      repository.commit({ branch: 'main', files: { a: '1' } });
      return service.workspace(`file://${repository.path}`);
    },
    branches: (workspace: string) => service.ask('GET', `/v1/workspaces/${workspace}/branches`, { token }),
    trigger: (workspace: string, branch: string) =>
      service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch } }),
    statusOf: async ({ headers }: { readonly headers: Headers }) =>
      (await service.ask('GET', headers.get('location') ?? '', { token })).body,
  };
}

test('an unresponsive remote delays a trigger by at most 5 s, and its sync times out', async () => {
  const { silentWorkspace, trigger, statusOf } = await start({ syncTimeout: { seconds: 2 } });
  const workspace = await silentWorkspace();
  const began = performance.now();
  const queued = await trigger(workspace, 'main');
  // The limit is 5 s; the rest is a margin for a busy test machine.
  expect(performance.now() - began).toBeLessThan(8_000);
  expect([queued.status, queued.body.status, queued.body.estimated_objects]).toEqual([202, 'queued', 0]);
  await expect
    .poll(() => statusOf(queued))
    .toMatchObject({ status: 'failed', error: expect.stringMatching(/within 2\.0 s/) });
});

test('a hundred branch lists of a silent remote fail with 503, and do not delay those of others', async () => {
  const { silentWorkspace, honestWorkspace, branches } = await start();
  const [workspace, honest] = [await silentWorkspace(), await honestWorkspace()];
  const began = performance.now();
  const lists = Array.from({ length: 100 }, () => branches(workspace));
  const others = await branches(honest);
  expect([others.status, others.body.branches.length]).toEqual([200, 1]);
  // It has slots of its own: it takes the time of git, not the ten seconds of a silent remote.
  expect(performance.now() - began).toBeLessThan(9_000);
  const answers = await Promise.all(lists);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers.filter(({ headers }) => headers.get('retry-after') === '5').length).toBeGreaterThan(80);
});

test('syncs run up to the configured limit, and those of a silent remote do not delay others', async () => {
  const { silentWorkspace, honestWorkspace, trigger, statusOf } = await start();
  const workspace = await silentWorkspace();
  const stuck = await Promise.all(['main', 'art', 'release'].map((branch) => trigger(workspace, branch)));
  const statuses = () => Promise.all(stuck.map(async (reply) => (await statusOf(reply)).status));
  await expect.poll(statuses).toEqual(expect.arrayContaining(['running', 'running', 'queued']));
  const honest = await trigger(await honestWorkspace(), 'main');
  await expect.poll(() => statusOf(honest)).toMatchObject({ status: 'succeeded' });
  expect(await statuses()).toEqual(expect.arrayContaining(['running', 'running', 'queued']));
});
