import { beforeAll, describe, expect, test } from 'vitest';
import { createRepository } from '../support/git-repository.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { checkOut, jobAt, lockedIn, openScene } from './scene.ts';
import { stable } from './stable.ts';

const scene = openScene();

/** A workspace with three locks of two people. */
async function lockedWorkspace(): Promise<string> {
  const workspace = await scene.service.workspace();
  await scene.lock(workspace, 'Content/Hero.uasset', { name: 'ada' });
  await scene.lock(workspace, 'Content/Maps/Arena.umap');
  await scene.lock(workspace, 'Content/Rock[1].fbx');
  return workspace;
}

describe('the list of locks', () => {
  test('contains every lock of the workspace', async () => {
    const workspace = await lockedWorkspace();
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'list-locks' } });
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
    expect(result.outputs).toMatchObject({ status: 'locked', count: '3' });
    const [hero, ...others] = JSON.parse(result.outputs['locks'] ?? '');
    const origin = 'https://github.com/octo-games/dragon/actions/runs/7';
    const told = ['acquired_at', 'expires_at', 'fence', 'id', 'lease', 'note', 'origin', 'owner', 'path', 'type'];
    expect(Object.keys(hero).toSorted()).toEqual(told);
    expect(hero).toMatchObject({ path: 'Content/Hero.uasset', owner: 'ada', origin });
    expect(others).toHaveLength(2);
    expect(stable(result.log)).toContain(
      `\n  Content/Hero.uasset is held by ada until <clock> (<distance>), locked in ${origin}, since <clock> (<distance>)\n`,
    );
    expect(stable(result.summary)).toContain(
      `<td>Content/Hero.uasset</td><td>ada</td><td><clock></td><td><a href="${origin}">octo-games/dragon #7</a></td>`,
    );
  });

  test.each([
    ['a path', 'Content/Hero.uasset', ['Content/Hero.uasset']],
    ['a pattern', 'Content/**/*.umap', ['Content/Maps/Arena.umap']],
    [
      'file names that look like patterns',
      'Content/Rock[1].fbx\nContent/Hero.uasset',
      ['Content/Hero.uasset', 'Content/Rock[1].fbx'],
    ],
    ['many paths', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'Content/Hero.uasset'].join('\n'), ['Content/Hero.uasset']],
  ])('is limited to %s', async (_name, path, expected) => {
    const job = await scene.job({ workspace: await lockedWorkspace() });
    await checkOut(job, 'Content/Maps/Arena.umap', 'Content/Maps/Free.umap', 'Content/Rock[1].fbx');
    const result = await job.run({ with: { operation: 'list-locks', path } });
    expect(lockedIn(result)).toEqual(expected);
    expect(result.outputs).toMatchObject({
      status: expected.length > 0 ? 'locked' : 'free',
      count: String(expected.length),
    });
  });

  test('takes a line that could be a mistake as a path if the job has a lock on it', async () => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    await job.run({ with: { operation: 'lock', path: '# notes', glob: 'false' } });
    const result = await job.run({ with: { operation: 'list-locks', path: '# notes' } });
    expect([result.conclusion, lockedIn(result)]).toEqual(['success', ['# notes']]);
    const refused = await job.run({ with: { operation: 'list-locks', path: '# other' } });
    expect(refused.conclusion).toBe('failure');
  });

  test('excludes ignored owners, and is free if no other locks remain', async () => {
    const job = await scene.job({ workspace: await lockedWorkspace() });
    const listed = { operation: 'list-locks', 'fail-if-locked': 'true' };
    const one = await job.run({ with: { ...listed, 'ignore-owner': 'grace' } });
    expect(one.conclusion).toBe('failure');
    expect(lockedIn(one)).toEqual(['Content/Hero.uasset']);
    const none = await job.run({ with: { ...listed, 'ignore-owner': 'Grace\nADA' } });
    expect(none).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0', locks: '[]' } });
    expect(none.log).toContain('apart from 3 locks of ignored owners.');
  });
});

let remote: string;

beforeAll(() => {
  const repository = createRepository(scene.service.dataFolder);
  repository.commit({ branch: 'main', files: { a: 'a' } });
  repository.git('branch', 'release/1.0', 'main');
  remote = repository.path;
});

test('lists the workspaces that the token can see', async () => {
  const workspace = await scene.service.workspace();
  const { secret } = await scene.service.token({ workspaces: [workspace] });
  const job = await scene.job({ env: { WORKSPACE_TOKEN: secret } });
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
