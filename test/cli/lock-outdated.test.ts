import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { WorkspaceSettings } from '../../src/service/workspaces/workspaces.ts';
import { locksOf } from '../service/http/shared-service.ts';
import { createRepository, gitAt } from '../support/git-repository.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { runCommand, startCommand } from '../support/service-process.ts';
import { folderOfTests } from '../support/temporary-folder.ts';

const service = serviceOfTests();
const folder = folderOfTests();
let token: string;
let repositories = 0;

beforeAll(async () => {
  token = (await service.token({ name: 'ada' })).secret;
});

/** A clone with a feature branch that lacks the newest version of b, of a repository that has moved on. */
async function setUp(settings: Partial<WorkspaceSettings>) {
  repositories += 1;
  const repository = createRepository(folder, `remote-${repositories}.git`);
  repository.commit(
    { branch: 'main', files: { 'a.umap': '1', 'b.umap': '1' } },
    { branch: 'release/1.4', from: 'main', files: { 'b.umap': '2' } },
    { branch: 'feature', from: 'main', files: { 'c.umap': '1' } },
  );
  const clone = join(folder, `clone-${repositories}`);
  gitAt(folder, 'clone', '--quiet', '--branch', 'feature', repository.path, clone);
  const workspace = await service.workspace(`file://${repository.path}`, {
    latest_branches: '["main","release/*"]',
    ...settings,
  });
  const environment = { WORKSPACE_BASE_URL: `${service.baseUrl}/v1`, WORKSPACE_TOKEN: token, WORKSPACE_ID: workspace };
  const options = { environment, cwd: clone };
  const lock = (...args: readonly string[]) => runCommand(['lock', ...args], options);
  const start = (...args: readonly string[]) => startCommand(['lock', ...args], options);
  return { repository, clone, environment, workspace, lock, start };
}

test('lock take is refused for the files that the checked-out branch has outdated, and locks nothing', async () => {
  const { repository, clone, lock } = await setUp({ latest: 'refuse' });
  const refused = await lock('take', 'a.umap', 'b.umap');
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('b.umap is outdated on feature: release/1.4 has a newer version, from commit');
  expect(refused.stderr).toContain(
    'Merge release/1.4 first.\nworkspace-service: 1 of 2 paths is outdated. Nothing was locked.\n',
  );
  expect((await lock('list')).stdout).toMatch(/^No locks found\.\n$/);
  expect((await lock('list', '--prefix=x/')).stdout).toMatch(/^No locks found\.\n$/);
  // The branch has the version, but the files of the clone are those of another one.
  const other = await lock('take', 'b.umap', '--branch', 'release/1.4');
  expect(other.stderr).toContain('Your copy of b.umap is 1 version behind release/1.4');
  gitAt(clone, 'fetch', '--quiet', 'origin', 'release/1.4');
  gitAt(clone, 'merge', '--quiet', 'FETCH_HEAD');
  gitAt(clone, 'push', '--quiet', 'origin', 'feature');
  expect(repository.git('rev-parse', 'feature:b.umap')).toBe(repository.git('rev-parse', 'release/1.4:b.umap'));
  await expect.poll(async () => (await lock('take', 'b.umap')).code).toBe(0);
});

test('lock take says how many versions the file of the clone is behind', async () => {
  const { repository, lock } = await setUp({ latest: 'refuse' });
  repository.commit({ branch: 'feature', files: { 'c.umap': '2' } }, { branch: 'feature', files: { 'c.umap': '3' } });
  const refused = await lock('take', 'c.umap');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    'Your copy of c.umap is 2 versions behind feature: the newest version is from commit',
  );
});

test('lock take compares the files of the clone again after it has waited', async () => {
  const { repository, workspace, lock, start } = await setUp({ latest: 'refuse' });
  const { secret } = await service.token({ name: 'bob' });
  const theirs = locksOf(service, workspace, secret);
  await theirs.take('c.umap');
  const waiting = start('take', 'a.umap', 'c.umap', '--wait', '60s');
  await waiting.logLine((line) => line.includes('Waiting'));
  repository.commit({ branch: 'feature', files: { 'c.umap': '2' } });
  const json = { branch: 'feature' };
  const { headers } = await service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json });
  const stateOf = async () => (await service.ask('GET', headers.get('location') ?? '', { token })).body.status;
  await expect.poll(stateOf).toBe('succeeded');
  await theirs.release('c.umap');
  expect([await waiting.ended(), waiting.stdout()]).toEqual([1, '']);
  expect(waiting.stderr()).toContain('Your copy of c.umap is 1 version behind feature');
  expect(waiting.stderr()).toContain('1 of 2 paths is outdated. Nothing was locked.');
  expect((await lock('list')).stdout).toMatch(/^No locks found\.\n$/);
});

test('lock take warns of outdated files, and locks them, if the workspace only warns', async () => {
  const { repository, lock } = await setUp({ latest: 'warn' });
  repository.commit({ branch: 'feature', files: { 'c.umap': '2' } });
  const taken = await lock('take', 'b.umap', 'c.umap');
  expect(taken.code).toBe(0);
  const warnings = taken.stderr.trimEnd().split('\n');
  expect(warnings.toSorted()).toEqual([
    expect.stringContaining('Your copy of c.umap is 1 version behind feature'),
    expect.stringContaining('b.umap is outdated on feature'),
  ]);
});

test('lock take marks the lock of a person, which ends when its file is merged', async () => {
  const { lock } = await setUp({});
  const taken = await lock('take', 'a.umap', '--json');
  const [{ id }] = JSON.parse(taken.stdout).locks;
  const row = await service.storage.read.selectFrom('locks').selectAll().where('id', '=', id).executeTakeFirst();
  expect(row).toMatchObject({ branch: 'feature' });
});

test('lock run compares its paths with the branch of the checkout', async () => {
  const { lock } = await setUp({ latest: 'refuse' });
  const refused = await lock('run', 'b.umap', '--', 'true');
  expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining('Merge release/1.4 first')]);
  expect((await lock('run', 'a.umap', '--', 'true')).code).toBe(0);
});

test('lock run warns of paths that are not meant as written, and locks them', async () => {
  const { clone, environment } = await setUp({});
  mkdirSync(join(clone, 'Content/Maps'), { recursive: true });
  writeFileSync(join(clone, 'Content/Hero.uasset'), '');
  async function warningsIn(cwd: string, ...paths: readonly string[]): Promise<readonly string[]> {
    const { code, stderr } = await runCommand(['lock', 'run', ...paths, '--', 'true'], { environment, cwd });
    expect(code).toBe(0);
    const lines = stderr.trimEnd().split('\n');
    return lines.filter((line) => !line.startsWith('Locked ')).toSorted();
  }
  const atRoot = ['Content', '*.umap', 'a.umap', 'Content/New [1].uasset', 'Content/Hero.uasset/x'];
  expect(await warningsIn(clone, ...atRoot)).toEqual([
    '*.umap is not expanded. A lock on a pattern covers no files: name the files.',
    'Content is a folder. A lock on it covers none of its files: name the files.',
  ]);
  const below = ['Hero.uasset', 'b.umap', 'Maps', 'Content/New.uasset'];
  expect(await warningsIn(join(clone, 'Content'), ...below)).toEqual([
    'Hero.uasset is not in this checkout. Did you mean Content/Hero.uasset?',
    'Maps is not in this checkout. Did you mean Content/Maps?',
  ]);
});
