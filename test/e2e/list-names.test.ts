import { beforeAll, expect, test } from 'vitest';
import { createRepository } from '../support/git-repository.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { jobAt, openScene } from './scene.ts';

const scene = openScene();
let remote: string;

beforeAll(() => {
  const repository = createRepository(scene.service.dataFolder);
  repository.commit({ branch: 'main', files: { a: 'a' } });
  repository.git('branch', 'release/1.0', 'main');
  remote = repository.path;
});

test('lists the workspaces that the token can see', async () => {
  const workspace = await scene.service.workspace();
  const job = await scene.job();
  const result = await job.run({ with: { operation: 'list-workspaces' } });
  expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
  expect(result.outputs).toMatchObject({ status: 'ok', count: '1' });
  expect(JSON.parse(result.outputs['workspaces'] ?? '')).toEqual([
    { id: workspace, remote: 'https://git.example.com/assets.git', created_at: expect.any(String) },
  ]);
  expect(result.log).toContain(`##[group]The token can see 1 workspace.\n  ${workspace}\n`);
  expect(result.summary).toContain(`<tr><td>${workspace}</td></tr>`);
});

test('lists the branches of a workspace', async () => {
  const job = await scene.job({ workspace: await scene.service.workspace(remote) });
  const result = await job.run({ with: { operation: 'list-branches' } });
  expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
  expect(result.outputs).toMatchObject({ status: 'ok', count: '2' });
  const unsynced = { head: expect.any(String), synced_head: null, synced_at: null };
  expect(JSON.parse(result.outputs['branches'] ?? '')).toEqual([
    { name: 'main', ...unsynced, default: true },
    { name: 'release/1.0', ...unsynced, default: false },
  ]);
  expect(result.log).toContain('has 2 branches.\n  main\n  release/1.0\n');
});

test('warns about an incomplete list, and once about unused inputs', async () => {
  const server = await startOtherServer(json(200, { workspaces: ['game', { id: 'film', name: 'Film' }, 7, {}] }));
  const job = await jobAt(server.baseUrl);
  const result = await job.run({ with: { operation: 'list-workspaces', ttl: '2h', path: 'a' } });
  expect(result.outputs).toEqual({
    status: 'ok',
    count: '2',
    workspaces: '[{"id":"game"},{"id":"film","name":"Film"}]',
  });
  expect(result.annotations.map(({ level, message }) => [level, message])).toEqual([
    ['warning', 'Inputs `path`, `ttl` are not used by `operation: list-workspaces`.'],
    ['warning', 'The list of workspaces may be incomplete: 2 of its entries could not be read.'],
  ]);
});
