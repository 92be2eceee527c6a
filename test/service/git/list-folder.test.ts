import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { FolderEntry } from '../../../src/service/git/list-files.ts';
import { branchNamed, enoughTime, failureOf, gitSetUp } from '../../support/git-service.ts';

const all = { folder: '', isWanted: () => true, max: 1_000, limits: enoughTime };

const names = (entries: readonly FolderEntry[]): string[] =>
  entries.map(({ name, isFolder }) => (isFolder ? `${name}/` : name));

test('a folder of the mirror lists exactly its own files and folders', async () => {
  const { git, remote, repository } = await gitSetUp();
  const files = ['a.txt', 'Content/b', 'Content/Maps/Town.umap', 'Content/größe x', 'Content/"quoted"'];
  repository.commit({ branch: 'main', files: Object.fromEntries(files.map((file) => [JSON.stringify(file), '1'])) });
  const { head: commit } = await git.fetch('game', remote, branchNamed('main'), enoughTime);
  const list = async (folder: string) => names(await git.listFolder('game', { ...all, commit, folder }));
  expect(await list('')).toEqual(['Content/', 'a.txt']);
  // Names that git quotes are left out, because other names may look the same when quoted.
  expect(await list('Content')).toEqual(['Maps/', 'b', 'größe x']);
  for (const folder of ['a.txt', 'nothing', '-x', 'content']) {
    expect((await failureOf(git.listFolder('game', { ...all, commit, folder }))).kind).toBe('failed');
  }
  expect((await failureOf(git.listFolder('film', { ...all, commit }))).kind).toBe('failed');
});

test('a folder with 20,000 files is read only up to the last requested entry', async () => {
  const { git, remote, repository } = await gitSetUp();
  repository.commit({ branch: 'main', files: { a: '1' } });
  const blob = repository.git('rev-parse', 'main:a').trim();
  const entries = Array.from({ length: 20_000 }, (_, index) => `100644 blob ${blob}\tAsset${10_000 + index}\n`);
  const tree = execFileSync('git', ['mktree'], { cwd: repository.path, input: entries.join(''), encoding: 'utf8' });
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', '-m', 'many', tree.trim()).trim());
  const { head: commit } = await git.fetch('game', remote, branchNamed('main'), enoughTime);
  let looks = 0;
  const list = (start: string) => {
    looks = 0;
    const isWanted = (name: string): boolean => {
      looks += 1;
      return name.startsWith(start);
    };
    return git.listFolder('game', { ...all, commit, isWanted, max: 3 });
  };
  expect(names(await list('Asset1'))).toEqual(['Asset10000', 'Asset10001', 'Asset10002']);
  expect(looks).toBe(3);
  expect(names(await list('Asset2999'))).toEqual(['Asset29990', 'Asset29991', 'Asset29992']);
  expect(looks).toBe(19_993);
});
