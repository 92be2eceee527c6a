import { expect, test } from 'vitest';
import { collectBranches } from '../../../src/service/git/remote-branches.ts';
import { enoughTime, failureOf, gitSetUp, remoteAt } from '../../support/git-service.ts';

test('the branches of a remote come with their commits and the default one', async () => {
  const { git, repository } = await gitSetUp();
  repository.commit(
    { branch: 'main', files: { a: '1' } },
    { branch: 'release/1.0', from: 'main', files: { a: '2' } },
    { branch: 'größe', from: 'main', files: { a: '3' } },
  );
  repository.git('tag', 'release/1.0-tag', 'main');
  repository.git('update-ref', 'refs/remotes/origin/refs/heads/other', 'main');
  repository.git('update-ref', 'refs/heads/HEAD', 'main');
  repository.git('update-ref', 'refs/heads/-option', 'main');
  for (const address of [repository.path, `file://${repository.path}`]) {
    const { branches, defaultBranch } = await git.branches(remoteAt(address), enoughTime);
    expect([...branches]).toEqual(['größe', 'main', 'release/1.0'].map((name) => [name, repository.head(name)]));
    expect(defaultBranch).toBe('main');
  }
});

test('an empty repository has no branches', async () => {
  const { git, remote } = await gitSetUp();
  expect(await git.branches(remote, enoughTime)).toEqual({ branches: new Map(), defaultBranch: undefined });
});

test('a repository that is not there is a failure in the words of git', async () => {
  const { folder, git } = await gitSetUp();
  const failure = await failureOf(git.branches(remoteAt(`${folder}/nothing.git`), enoughTime));
  expect(failure.kind).toBe('failed');
  expect(failure.message).toContain(`git could not list the branches of ${folder}/nothing.git`);
  expect(failure.message).toContain('does not appear to be a git repository');
});

test('names that could not be given back to git are left out', () => {
  const commit = '0123456789012345678901234567890123456789';
  const collected = collectBranches();
  const refs = ['heads/ok', 'heads/not-\ufffd-utf8', 'heads/../evil', 'heads/-x', 'tags/v1', 'HEAD'];
  for (const ref of refs) collected.add(`${commit}\trefs/${ref}`);
  expect([...collected.listed.branches.keys()]).toEqual(['ok']);
});
