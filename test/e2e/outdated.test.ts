import { expect, test } from 'vitest';
import type { WorkspaceSettings } from '../../src/service/workspaces/workspaces.ts';
import { createRepository } from '../support/git-repository.ts';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { openScene } from './scene.ts';

const scene = openScene();
const folder = folderOfTests();
let repositories = 0;

/** A release branch that has newer versions of two files than the feature branch. */
async function setUp(latest: WorkspaceSettings['latest']) {
  repositories += 1;
  const repository = createRepository(folder, `remote-${repositories}.git`);
  repository.commit(
    { branch: 'main', files: { a: '1', b: '1', c: '1' } },
    { branch: 'feature', from: 'main', files: { d: '1' } },
    { branch: 'release/1.4', from: 'main', files: { b: '2', c: '2' } },
  );
  const settings = { latest, latest_branches: 'main,release/*' };
  const workspace = await scene.service.workspace(`file://${repository.path}`, settings);
  const job = (event = pullRequestEvent({ number: 7, head: 'feature' })) => scene.job({ workspace, event });
  return { repository, workspace, job };
}

const lock = (path: string) => ({ with: { operation: 'lock', path } });

test('a lock step fails with an annotation for each outdated file of its branch, and holds nothing', async () => {
  const { workspace, job } = await setUp('refuse');
  const { run } = await job();
  const result = await run(lock('a\nb\nc'));
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ acquired: 'false', count: '0' });
  expect(result.outputs['status']).toBeUndefined();
  const [failure, ...onFiles] = result.annotations;
  expect(failure?.message).toMatch(
    /^[bc] is outdated on feature: release\/1\.4 has a newer version, .* Merge release\/1\.4 first/,
  );
  expect(onFiles.map(({ level, file, title }) => [level, file, title])).toEqual([
    ['error', 'b', 'Outdated'],
    ['error', 'c', 'Outdated'],
  ]);
  expect(await scene.locked(workspace)).toEqual([]);
});

test('a lock step gets its locks with a warning for each outdated file, if the workspace only warns', async () => {
  const { job } = await setUp('warn');
  const { run } = await job();
  const result = await run(lock('a\nb\nc'));
  expect(result.conclusion).toBe('success');
  expect(result.annotations.map(({ level, file, title }) => [level, file, title]).toSorted()).toEqual([
    ['warning', 'b', 'Outdated'],
    ['warning', 'c', 'Outdated'],
  ]);
  expect(result.annotations[0]?.message).toContain('release/1.4 has a newer version');
});
