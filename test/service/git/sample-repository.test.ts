import { expect, test } from 'vitest';
import { gitAt } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, gitIn, remoteAt } from '../../support/git-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('the sample repository is the same everywhere, and can be synced', async () => {
  const [one, other] = [gitIn(temporaryFolder()), gitIn(temporaryFolder())];
  const repository = await one.sampleRepository();
  const remote = remoteAt(repository);
  const { branches, defaultBranch } = await one.branches(remote, enoughTime);
  expect([...branches.keys()]).toEqual(['main', 'release/1.0']);
  expect(defaultBranch).toBe('main');
  expect(branches).toEqual((await other.branches(remoteAt(await other.sampleRepository()), enoughTime)).branches);

  const release = branchNamed('release/1.0');
  const objects = await one.estimate('sample', remote, release, enoughTime);
  expect((await one.fetch('sample', remote, release, enoughTime)).receivedObjects).toBe(objects);
  expect(gitAt(repository, 'ls-tree', '-r', '--name-only', 'main')).toContain('Content/Hero.uasset');
  expect(gitAt(repository, 'fsck', '--strict', '--no-progress')).toBe('');
});
