import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGit } from '../../../src/service/git/git.ts';
import { createRepository, manyCommits, pathWithGit } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, failureOf, gitIn, gitSetUp, operatorEnvironment } from '../../support/git-service.ts';

const main = branchNamed('main');

test('a repository that another user owns can be listed and fetched', async () => {
  const { folder, repository, remote } = await gitSetUp();
  repository.commit(...manyCommits(3));
  // git's own tests set this to make every repository seem to be owned by another user.
  const path = await pathWithGit(folder, 'export GIT_TEST_ASSUME_DIFFERENT_OWNER=1');
  const service = gitIn(join(folder, 'data'), { PATH: path });

  expect([...(await service.branches(remote, enoughTime)).branches.keys()]).toEqual(['main']);
  expect((await service.fetch('game', remote, main, enoughTime)).head).toBe(repository.head('main'));
});

test('a repository on the local disk is not read unless the operator allows it', async () => {
  const { folder, repository, remote } = await gitSetUp();
  repository.commit(...manyCommits(1));
  const git = createGit({ dataFolder: folder, allowFile: false, environment: operatorEnvironment(folder) });
  const failure = await failureOf(git.fetch('game', remote, main, enoughTime));
  expect(failure.message).toContain("transport 'file' not allowed");
});

test('the settings of a repository that the service was started in are ignored', async () => {
  const { folder, repository, data, remote } = await gitSetUp();
  repository.commit(...manyCommits(1));
  const around = createRepository(folder, 'around.git');
  around.git('config', 'url.file:///elsewhere.insteadOf', repository.path);
  const git = gitIn(data, { PATH: await pathWithGit(folder, `cd ${around.path}`) });
  expect((await git.branches(remote, enoughTime)).branches.size).toBe(1);
});
