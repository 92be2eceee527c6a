import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { enoughTime, failureOf, gitSetUp, remoteAt } from '../../support/git-service.ts';

test('the branches of a remote are listed with their commits and the default branch', async () => {
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

test('a missing repository fails with the message of git', async () => {
  const { folder, git } = await gitSetUp();
  const failure = await failureOf(git.branches(remoteAt(`${folder}/nothing.git`), enoughTime));
  expect(failure.kind).toBe('failed');
  expect(failure.message).toContain(`git could not list the branches of ${folder}/nothing.git`);
  expect(failure.message).toContain('does not appear to be a git repository');
});

test('a remote with more branches than the service keeps in memory is refused', async () => {
  const { git, remote, repository } = await gitSetUp();
  repository.commit({ branch: 'main', files: { a: '1' } });
  const head = repository.head('main');
  const refs = Array.from({ length: 100_000 }, (_, index) => `${head} refs/heads/more/${index}\n`).sort();
  await writeFile(
    join(repository.path, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${refs.join('')}`,
  );
  const { message } = await failureOf(git.branches(remote, enoughTime));
  expect(message).toBe(
    `git could not list the branches of ${remote.address}: there are more than 100000. Delete unused branches.`,
  );
});
