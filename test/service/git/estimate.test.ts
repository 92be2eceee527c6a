import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { readProgress } from '../../../src/service/git/fetch.ts';
import { processesNaming } from '../../support/git-processes.ts';
import { gitAt, manyCommits } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, gitSetUp } from '../../support/git-service.ts';

test('the estimate equals the number of objects that the fetch of a new branch transfers', async () => {
  const { git, repository, remote } = await gitSetUp();
  repository.commit(
    ...manyCommits(20),
    { branch: 'art', from: 'main', files: { 'a/b': '1', c: '2' } },
    { branch: 'merged', from: 'main', files: { d: '1' } },
    { branch: 'merged', merge: 'art', files: { e: '1' } },
  );
  for (const branch of ['art', 'main', 'merged'].map(branchNamed)) {
    const estimated = await git.estimate('game', remote, branch, enoughTime);
    expect((await git.fetch('game', remote, branch, enoughTime)).receivedObjects).toBe(estimated);
    expect(await git.estimate('game', remote, branch, enoughTime)).toBe(0);
  }
});

test('the estimate does not change the mirror, and leaves no process running', async () => {
  const { git, repository, remote, mirror } = await gitSetUp();
  const main = branchNamed('main');
  repository.commit(...manyCommits(3));
  const { head } = await git.fetch('game', remote, main, enoughTime);
  const before = gitAt(mirror, 'count-objects', '-v');

  repository.commit({ branch: 'main', files: { large: randomBytes(8_000_000) } });
  expect(await git.estimate('game', remote, main, enoughTime)).toBe(3);
  expect(gitAt(mirror, 'count-objects', '-v')).toBe(before);
  expect(gitAt(mirror, 'for-each-ref', '--format=%(objectname)')).toBe(`${head}\n`);
  expect(processesNaming(repository.path)).toEqual([]);
});

test.each([
  ['Receiving objects:   0% (1/1500)', { received: 1, total: 1_500 }],
  ['Receiving objects: 100% (5/5), 3.21 KiB | 1.00 MiB/s, done.', { received: 5, total: 5 }],
  ['Resolving deltas: 100% (2/2), done.', undefined],
])('the progress of a transfer is parsed from the line %j', (line, progress) => {
  expect(readProgress(line)).toEqual(progress);
});
