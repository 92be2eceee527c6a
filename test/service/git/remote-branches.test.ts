import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collectBranches, maxBranches } from '../../../src/service/git/remote-branches.ts';
import { branchNamed, enoughTime, failureOf, gitSetUp, remoteAt } from '../../support/git-service.ts';

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

test('branch names that could not be passed back to git are left out', () => {
  const commit = '0123456789012345678901234567890123456789';
  const collected = collectBranches();
  const refs = ['heads/ok', 'heads/not-\ufffd-utf8', 'heads/../evil', 'heads/-x', 'tags/v1', 'HEAD'];
  for (const ref of refs) collected.add(`${commit}\trefs/${ref}`);
  expect([...collected.listed.branches.keys()]).toEqual(['ok']);
});

async function repositoryWith(branches: number) {
  const { git, remote, repository } = await gitSetUp();
  repository.commit({ branch: 'main', files: { a: '1' } });
  const head = repository.head('main');
  const refs = Array.from({ length: branches - 1 }, (_, index) => `refs/heads/b${String(index).padStart(6, '0')}`);
  await writeFile(
    join(repository.path, 'packed-refs'),
    ['# pack-refs with: peeled fully-peeled sorted ', ...refs.map((ref) => `${head} ${ref}`), ''].join('\n'),
  );
  return { git, remote, head };
}

/** The longest CPU time of a single event-loop turn during the work, in milliseconds. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
  let isOver = false;
  let longest = 0;
  let before = process.threadCpuUsage();
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(turn);
  };
  turn();
  await work();
  isOver = true;
  return longest;
}

test('all branches are listed up to the limit, without blocking the event loop', async () => {
  const { git, remote } = await repositoryWith(maxBranches);
  let listed = 0;
  const longest = await longestTurn(async () => {
    ({ size: listed } = (await git.branches(remote, enoughTime)).branches);
  });
  expect(listed).toBe(maxBranches);
  expect(longest).toBeLessThan(50);
});

test('a remote with too many branches cannot be listed, but its branches can be synced by name', async () => {
  const { git, remote, head } = await repositoryWith(maxBranches + 50_000);
  const failure = await failureOf(git.branches(remote, enoughTime));
  expect([failure.kind, failure.message]).toEqual(['failed', expect.stringContaining('more than 100000 branches')]);
  const branch = branchNamed('b149998');
  expect((await git.fetch('game', remote, branch, enoughTime)).head).toBe(head);
});
