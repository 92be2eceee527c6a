import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GitError } from '../../../src/service/git/git-error.ts';
import { createPullThrough } from '../../../src/service/mirror/pull-through.ts';
import { type FetchedObjects, noObjects } from '../../../src/service/syncs/wanted-objects.ts';
import { findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeSyncedBranches } from '../../support/stored-rows.ts';

const slowOnes = Array.from({ length: 8 }, (_, index) => `slow-${index}`);
const workspaces = ['game', 'complete', 'incomplete', ...slowOnes];
const storage = sharedStorage(sqlite, { workspaces });
const main = branchNamed('main');
const heads = new Map([[main, 'a'.repeat(40)]]);

async function silentStore(_workspace: string): Promise<FetchedObjects> {
  throw new GitError('failed', 'The store does not answer.');
}

/** An instance whose fetches the test ends, and that has what they have brought. */
function setUp({ isDiskLow = false, store = silentStore } = {}) {
  const [present, fetches] = [new Set<string>(), [] as PromiseWithResolvers<void>[]];
  const wantedBy: (readonly string[])[] = [];
  let objectRuns = 0;
  const pull = createPullThrough({
    storage,
    git: {
      missingCommits: async (_workspace, commits) => new Set(commits).difference(present),
      async fetchCommits(_workspace, _remote, wanted) {
        const fetching = Promise.withResolvers<void>();
        fetches.push(fetching);
        wantedBy.push([...wanted.keys()]);
        await fetching.promise;
        for (const head of wanted.values()) present.add(head);
      },
    },
    async fetchObjects({ workspace }) {
      objectRuns += 1;
      return store(workspace);
    },
    allowFileRemotes: false,
    syncTimeout: { seconds: 60 },
    freeDisk: { isLow: () => isDiskLow, reserve: '1 MiB' },
    stopping: new AbortController().signal,
    log: pino({ level: 'silent' }),
  });
  return { pull, present, fetches, wantedBy, objectRuns: () => objectRuns };
}

async function game(id = 'game') {
  const workspace = await findWorkspace(storage.read, id);
  if (workspace === undefined) throw new Error('The workspace was not added.');
  return workspace;
}

test('all clients share one fetch, which continues after they were asked to retry', async () => {
  const { pull, fetches, wantedBy } = setUp();
  const workspace = await game();
  const asked = Array.from({ length: 5 }, () => pull.commits(workspace, heads, 50));
  for (const reason of await Promise.all(asked)) expect(reason).toContain('still fetching');
  expect(fetches).toHaveLength(1);
  const later = pull.commits(workspace, heads);
  const more = pull.commits(workspace, new Map([...heads, [branchNamed('art'), 'b'.repeat(40)]]));
  fetches[0]?.resolve();
  expect(await later).toBeUndefined();
  await expect.poll(() => fetches.length).toBe(2);
  // The second one fetches only what the first one did not bring.
  expect(wantedBy).toEqual([['main'], ['art']]);
  fetches[1]?.resolve();
  expect(await more).toBeUndefined();
});

test('nothing is fetched onto a disk that is nearly full', async () => {
  const { pull, fetches } = setUp({ isDiskLow: true });
  expect(await pull.commits(await game(), heads)).toContain('could not fetch the branch main');
  expect(fetches).toEqual([]);
});

test('a store that cannot be used is not asked again within a minute, but another one is', async () => {
  const { pull, present, objectRuns } = setUp();
  const head = 'c'.repeat(40);
  present.add(head);
  await storeSyncedBranches(storage, { workspace_id: 'game', name: 'main', head });
  for (let times = 0; times < 2; times += 1) {
    expect(await pull.objects(await game(), async () => false)).toBeUndefined();
  }
  expect(objectRuns()).toBe(1);
  await pull.objects({ ...(await game()), lfs_url: 'https://lfs.example.com' }, async () => false);
  expect(objectRuns()).toBe(2);
});

test('a head is looked at again for the objects of others only if it lacks some, and not at all times', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['performance'] });
  const lookingMs = 70_000;
  const lacking = new Set<string>();
  const { pull, present, objectRuns } = setUp({
    async store(workspace) {
      vi.advanceTimersByTime(lookingMs);
      return { ...noObjects, missing: { count: lacking.has(workspace) ? 1 : 0, named: [] } };
    },
  });
  const branches = Array.from({ length: 16 }, (_, index) => ({
    name: `b${index}`,
    head: `${index}`.padStart(40, 'd'),
  }));
  for (const { head } of branches) present.add(head);
  for (const workspace_id of ['complete', 'incomplete']) {
    await storeSyncedBranches(storage, ...branches.map((branch) => ({ workspace_id, ...branch })));
  }
  lacking.add('incomplete');
  const runsOf = async (id: string): Promise<number> => {
    const before = objectRuns();
    expect(await pull.objects(await game(id), async () => false)).toBeUndefined();
    return objectRuns() - before;
  };
  for (const id of ['complete', 'incomplete']) {
    expect(await runsOf(id)).toBe(branches.length);
    expect(await runsOf(id)).toBe(0);
  }
  vi.advanceTimersByTime(1_000 * 3_600);
  expect(await runsOf('complete')).toBe(0);
  expect(await runsOf('incomplete')).toBe(branches.length);
  vi.advanceTimersByTime(24 * 1_000 * 3_600);
  expect(await runsOf('complete')).toBe(branches.length);
});

test('slow stores do not delay the clones of other workspaces', async () => {
  const slow = Promise.withResolvers<FetchedObjects>();
  const { pull, fetches } = setUp({ store: () => slow.promise });
  for (const id of slowOnes)
    await storeSyncedBranches(storage, { workspace_id: id, name: 'main', head: 'e'.repeat(40) });
  const waiting = Promise.all(slowOnes.map(async (id) => pull.objects(await game(id), async () => true)));
  await expect.poll(() => fetches.length).toBe(slowOnes.length);
  for (const fetching of fetches) fetching.resolve();
  const clone = pull.commits(await game(), heads);
  await expect.poll(() => fetches.length).toBe(slowOnes.length + 1);
  fetches.at(-1)?.resolve();
  expect(await clone).toBeUndefined();
  slow.resolve(noObjects);
  await waiting;
});
