import { expect, test } from 'vitest';
import type { BranchName } from '../../../src/interface/branch-name.ts';
import { accepted, refused } from '../../../src/interface/parsed.ts';
import type { RemoteBranches } from '../../../src/service/git/fetch.ts';
import { createPrepareSync } from '../../../src/service/syncs/trigger.ts';
import { createRemotes } from '../../../src/service/workspaces/remotes.ts';
import { syncedBranches } from '../../../src/service/workspaces/synced-branches.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeWorkspace } from '../../support/stored-rows.ts';

const workspace = { id: 'game', remote: 'https://git.example.com/game.git' };

const main = branchNamed('main');
const fresh = branchNamed('fresh');

const listing = (...branches: readonly BranchName[]): RemoteBranches => ({
  branches: new Map(branches.map((name) => [name, '1'.repeat(40)])),
  defaultBranch: main,
});

const storage = sharedStorage(sqlite);

/** Triggers on a remote whose branch lists the test returns, in the order of the requests. */
function withListings() {
  const asked: ((response: RemoteBranches) => void)[] = [];
  const counts = { estimates: 0 };
  const git = {
    branches: () => new Promise<RemoteBranches>((resolve) => asked.push(resolve)),
    async estimate() {
      counts.estimates += 1;
      return 7;
    },
  };
  const remotes = createRemotes({ storage, git, allowFileRemotes: false, stopping: new AbortController().signal });
  return { prepare: createPrepareSync({ storage, remotes }), asked, counts };
}

test('many triggers share a few listings, and one estimate', async () => {
  const { prepare, asked, counts } = withListings();
  const prepared: unknown[] = [];
  for (let index = 0; index < 50; index += 1) void prepare(workspace, main).then((each) => prepared.push(each));
  const answerAll = () => {
    for (const answer of asked) answer(listing(main));
    return prepared.length;
  };
  await expect.poll(answerAll).toBe(50);
  expect(prepared).toEqual(Array.from({ length: 50 }, () => accepted(7)));
  expect(Math.max(asked.length, counts.estimates)).toBeLessThan(5);
});

test('branches that a listing lacks are removed, unless they were synced again, or it also lacks the requested branch', async () => {
  const { prepare, asked } = withListings();
  const synced = { ...workspace, id: 'synced' };
  await storeWorkspace(storage, synced);
  const add = (name: BranchName, synced_at: number) =>
    storage.commit('global', (db) =>
      db
        .insertInto('synced_branches')
        .values({ workspace_id: synced.id, name, head: '1'.repeat(40), synced_at, received_objects: 1 })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'name']).doUpdateSet({ synced_at }))
        .execute(),
    );
  const [old, other] = [branchNamed('old'), branchNamed('other')];
  for (const name of [main, old, other]) await add(name, 1);
  const names = async () => [...(await syncedBranches(storage, synced.id)).keys()];
  const unknown = prepare(synced, fresh);
  await expect.poll(() => asked.length).toBe(1);
  asked[0]?.(listing());
  expect(await unknown).toEqual(refused('The remote has no branch fresh. It has none yet.'));
  expect(await names()).toEqual(['main', 'old', 'other']);
  const known = prepare(synced, main);
  await expect.poll(() => asked.length).toBe(2);
  await add(other, 2);
  asked[1]?.(listing(main));
  expect(await known).toEqual(accepted(0));
  expect(await names()).toEqual(['main', 'other']);
});
