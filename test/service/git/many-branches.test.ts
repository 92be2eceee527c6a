import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { maxBranches } from '../../../src/service/git/remote-branches.ts';
import { branchNamed, enoughTime, failureOf, gitSetUp } from '../../support/git-service.ts';

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

/** The most processor time that one turn of the event loop takes while the work is under way, in milliseconds. */
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

test('all branches are listed up to the limit, and everything else has its turn meanwhile', async () => {
  const { git, remote } = await repositoryWith(maxBranches);
  let listed = 0;
  const longest = await longestTurn(async () => {
    ({ size: listed } = (await git.branches(remote, enoughTime)).branches);
  });
  expect(listed).toBe(maxBranches);
  expect(longest).toBeLessThan(50);
});

test('a remote with more branches is not listed to its end, and its branches can be synced by name', async () => {
  const { git, remote, head } = await repositoryWith(maxBranches + 50_000);
  const failure = await failureOf(git.branches(remote, enoughTime));
  expect([failure.kind, failure.message]).toEqual(['failed', expect.stringContaining('more than 100000 branches')]);
  const branch = branchNamed('b149998');
  expect((await git.fetch('game', remote, branch, enoughTime)).head).toBe(head);
});
