import { expect, test } from 'vitest';
import type { BranchName } from '../../../src/service/git/branch-name.ts';
import { createRefreshMirror } from '../../../src/service/latest/refresh-mirror.ts';
import type { AskedRemote } from '../../../src/service/workspaces/remote-memory.ts';
import { addWorkspace, findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const storage = sharedStorage(sqlite);
let workspaces = 0;

/** A remote with these branches, and a mirror with some of them. All syncs fail at once. */
async function setUp(names: readonly string[], mirrored: readonly string[], isSilent = false) {
  workspaces += 1;
  const id = `game-${workspaces}`;
  const settings = { remote: 'https://git.example.com/game.git', latest_branches: '["main","release-*"]' };
  await storage.commit('global', (db) => addWorkspace(db, storage.now, { id, ...settings }));
  const workspace = await findWorkspace(storage.read, id);
  if (workspace === undefined) throw new Error('The workspace was not added.');
  const branches = new Map<BranchName, string>(names.map((name) => [branchNamed(name), '1']));
  const times = { askedAt: 1_000, answeredAt: 1_000 };
  const listing = { branches, defaultBranch: branchNamed('main'), ...times };
  const asked: AskedRemote = isSilent
    ? { listing: undefined, failure: { reason: 'No answer.', isBusy: false, ...times } }
    : { listing, failure: undefined };
  const calls = { heads: 0, asks: 0 };
  const refreshMirror = createRefreshMirror({
    storage,
    git: {
      async heads() {
        calls.heads += 1;
        return new Map(mirrored.map((name) => [name, '1']));
      },
    },
    remoteMemory: {
      known: () => asked,
      async ask() {
        calls.asks += 1;
        return asked;
      },
    },
    onQueued: () =>
      void storage.commit({ workspace: id }, (db) =>
        db.updateTable('syncs').set({ status: 'failed', finished_at: 1 }).where('workspace_id', '=', id).execute(),
      ),
  });
  const refresh = (branch: string) => refreshMirror({ workspace, branch, syncsBranch: true }, 60_000);
  return { refresh, calls };
}

test('without a branch of the remote, the comparison has no time', async () => {
  const complete = await setUp(['main', 'topic'], ['main', 'topic']);
  expect((await complete.refresh('topic')).asOf).toBeUndefined();
  const { refresh } = await setUp(['main', 'release-1', 'topic'], ['main', 'topic']);
  const { compared, own, asOf } = await refresh('topic');
  expect([[...compared], own, asOf]).toEqual([[['main', '1']], '1', Infinity]);
});

test('the mirror is read once for all branches', async () => {
  const releases = Array.from({ length: 400 }, (_, index) => `release-${index}`);
  const { refresh, calls } = await setUp(['main', ...releases], ['main', ...releases]);
  expect((await refresh('main')).compared.size).toBe(401);
  expect(calls.heads).toBe(1);
});

test.each([
  { remote: 'a silent remote is asked once for all branches', isSilent: true, asks: 1 },
  { remote: 'a remote that answers is asked once for each branch', isSilent: false, asks: 3 },
])('$remote', async ({ isSilent, asks }) => {
  const { refresh, calls } = await setUp(['main', 'a', 'b'], ['main', 'a', 'b'], isSilent);
  for (const branch of ['main', 'a', 'b', 'a', 'b']) await refresh(branch);
  expect(calls.asks).toBe(asks);
});
