import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { WorkspaceSettings } from '../../src/service/workspaces/workspaces.ts';
import { createRepository, gitAt } from '../support/git-repository.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { runCommand } from '../support/service-process.ts';
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
  const latest = { latest_branches: 'main,release/*', ...settings };
  const workspace = await service.workspace(`file://${repository.path}`, latest);
  const environment = { WORKSPACE_BASE_URL: `${service.baseUrl}/v1`, WORKSPACE_TOKEN: token, WORKSPACE_ID: workspace };
  const options = { environment, cwd: clone };
  const lock = (...args: readonly string[]) => runCommand(['lock', ...args], options);
  return { repository, clone, environment, lock };
}

test('lock take is refused for a file that the checked-out branch has outdated, and locks nothing', async () => {
  const { repository, clone, lock } = await setUp({ latest: 'refuse' });
  const refused = await lock('take', 'a.umap', 'b.umap');
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('b.umap is outdated on feature: release/1.4 has a newer version, from commit');
  expect(refused.stderr).toMatch(/Merge release\/1\.4 first .* Nothing was locked\.\n$/);
  expect((await lock('list')).stdout).toBe('No locks found.\n');
  gitAt(clone, 'fetch', '--quiet', 'origin', 'release/1.4');
  gitAt(clone, 'merge', '--quiet', 'FETCH_HEAD');
  gitAt(clone, 'push', '--quiet', 'origin', 'feature');
  expect(repository.git('rev-parse', 'feature:b.umap')).toBe(repository.git('rev-parse', 'release/1.4:b.umap'));
  await expect.poll(async () => (await lock('take', 'b.umap')).code).toBe(0);
});

test('lock take warns of an outdated file, and locks it, if the workspace only warns', async () => {
  const { lock } = await setUp({ latest: 'warn' });
  const taken = await lock('take', 'b.umap', 'c.umap');
  expect(taken.code).toBe(0);
  expect(taken.stderr).toMatch(/^b\.umap is outdated on feature: .*\n$/);
});

test('lock run compares its paths with the branch of the checkout', async () => {
  const { lock } = await setUp({ latest: 'refuse' });
  const refused = await lock('run', 'b.umap', '--', 'true');
  expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining('Merge release/1.4 first')]);
  expect((await lock('run', 'a.umap', '--', 'true')).code).toBe(0);
});

test('lock run warns of paths that are probably mistakes, and locks them', async () => {
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
