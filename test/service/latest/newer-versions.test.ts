import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createCompare, createFindNewerVersions } from '../../../src/service/latest/compare.ts';
import { findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed, enoughTime, gitSetUp } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const storage = sharedStorage(sqlite, { workspaces: ['game'] });

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

test('many branches are compared one after the other, until they differ in too many files', async () => {
  const found = (await findWorkspace(storage.read, 'game')) ?? expect.fail('The workspace was not added.');
  const workspace = { ...found, latest: 'warn', latest_branches: 'release/*,trunk' };
  const names = ['topic', ...Array.from({ length: 39 }, (_, index) => `release/${index}`), 'trunk'];
  const branches = new Map(names.map((name) => [branchNamed(name), `head of ${name}`]));
  const listing = { branches, defaultBranch: branchNamed('trunk'), askedAt: 1_000 };
  const known = () => ({ listing, failure: undefined, startedAt: performance.now() });
  // On a slow machine, the heads would be too old for a refusal, and would be compared again.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  onTestFinished(() => clock.mockRestore());
  let [running, most, differencesOfEach] = [0, 0, 100];
  const commit = { id: 'theirs', author: 'Test', at: 0 };
  const compared: string[] = [];
  const compare = createCompare({
    storage,
    pullThrough: { commits: async () => undefined },
    remotes: { known, ask: async () => known() },
    git: {
      missingCommits: async () => new Set<string>(),
      async listChanges(_workspace, { head }, onChange) {
        compared.push(head);
        running += 1;
        most = Math.max(most, running);
        await setImmediate();
        for (let index = 0; index < differencesOfEach; index += 1) onChange({ path: `${index}`, blob: null, commit });
      },
      async listDifferences(_workspace, _query, onPath) {
        for (let index = 0; index < differencesOfEach; index += 1) onPath(`${index}`);
        await setImmediate();
        running -= 1;
      },
    },
    onError: (error) => expect.fail(String(error)),
  });
  const request = { workspace, branch: branchNamed('topic'), paths: ['7'] };
  const { outdated, gap } = await compare(request);
  expect([outdated[0]?.path, gap, most, compared.length]).toEqual(['7', undefined, 1, 40]);

  branches.set(branchNamed('topic'), 'another head');
  differencesOfEach = 180_000;
  const tooMany = await compare({ ...request, paths: ['new', '170000'] });
  expect(tooMany).toMatchObject({
    outdated: [{ path: '170000' }],
    gap: { reason: 'The branches differ in too many files.', isLasting: true },
  });
  // The default branch is compared first, whatever its name.
  expect([most, compared.slice(40)]).toEqual([1, ['head of trunk', 'head of release/0', 'head of release/1']]);
});
