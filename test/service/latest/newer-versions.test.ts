import { expect, test, vi } from 'vitest';
import { createFindNewerVersions } from '../../../src/service/latest/compare.ts';
import { branchNamed, enoughTime, gitSetUp } from '../../support/git-service.ts';

async function setUp(files: number) {
  const { git, remote, repository } = await gitSetUp();
  const contents = (content: string) =>
    Object.fromEntries(Array.from({ length: files }, (_, index) => [`asset-${index}`, content]));
  repository.commit(
    { branch: 'main', files: contents('1') },
    { branch: 'feature', from: 'main', files: { own: '1' } },
    { branch: 'main', files: contents('2') },
  );
  for (const branch of ['main', 'feature']) await git.fetch('game', remote, branchNamed(branch), enoughTime);
  const listChanges = vi.spyOn(git, 'listChanges');
  const listDifferences = vi.spyOn(git, 'listDifferences');
  const calls = () => listChanges.mock.calls.length + listDifferences.mock.calls.length;
  return { git, repository, calls, find: createFindNewerVersions(git) };
}

test('two heads are compared once, for any number of paths and requests', async () => {
  const { repository, find, calls } = await setUp(5_000);
  const [main, feature] = [repository.head('main'), repository.head('feature')];
  const all = await Promise.all(Array.from({ length: 50 }, () => find('game', feature, main)));
  expect(new Set(all).size).toBe(1);
  expect(all[0]?.changes.size).toBe(5_000);
  expect(calls()).toBe(2);
  await find('game', feature, main);
  expect(calls()).toBe(2);
});

test('a branch that contains the other one needs no comparison of files', async () => {
  const { repository, find, calls } = await setUp(1);
  repository.git('update-ref', 'refs/heads/feature', repository.head('main'));
  expect((await find('game', repository.head('main'), repository.git('rev-parse', 'main~1').trim())).changes.size).toBe(
    0,
  );
  expect(calls()).toBe(1);
});

test('a comparison that failed is tried again', async () => {
  const { repository, find, calls } = await setUp(1);
  const missing = 'f'.repeat(40);
  await expect(find('game', missing, repository.head('main'))).rejects.toThrow();
  await expect(find('game', missing, repository.head('main'))).rejects.toThrow();
  expect(calls()).toBe(2);
});

test('a comparison with too many changes says that it is incomplete', async () => {
  const commit = { id: 'theirs', author: 'Test', at: 0 };
  const find = createFindNewerVersions({
    async listChanges(_workspace, _query, onChange) {
      for (let index = 0; index < 200_001; index += 1) onChange({ path: `asset-${index}`, blob: null, commit });
    },
    listDifferences: async (_workspace, _query, onPath) => onPath('asset-0'),
  });
  const { changes, isComplete } = await find('game', 'ours', 'theirs');
  expect([[...changes.keys()], isComplete]).toEqual([['asset-0'], false]);
});
