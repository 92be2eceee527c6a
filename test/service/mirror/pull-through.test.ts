import pino from 'pino';
import { expect, test } from 'vitest';
import { GitError } from '../../../src/service/git/git-error.ts';
import { createPullThrough } from '../../../src/service/mirror/pull-through.ts';
import { findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeSyncedBranches } from '../../support/stored-rows.ts';

const storage = sharedStorage(sqlite, { workspaces: ['game'] });
const main = branchNamed('main');
const heads = new Map([[main, 'a'.repeat(40)]]);

/** An instance whose fetches the test ends, and that has what they have brought. */
function setUp({ isDiskLow = false } = {}) {
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
    async fetchObjects() {
      objectRuns += 1;
      throw new GitError('failed', 'The store does not answer.');
    },
    allowFileRemotes: false,
    syncTimeout: { seconds: 60 },
    freeDisk: { isLow: () => isDiskLow, reserve: '1 MiB' },
    stopping: new AbortController().signal,
    log: pino({ level: 'silent' }),
  });
  return { pull, present, fetches, wantedBy, objectRuns: () => objectRuns };
}

async function game() {
  const workspace = await findWorkspace(storage.read, 'game');
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
