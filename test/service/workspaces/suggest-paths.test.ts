import { expect, onTestFinished, test } from 'vitest';
import type { FolderEntry, FolderQuery } from '../../../src/service/git/list-files.ts';
import { createSuggestPaths } from '../../../src/service/workspaces/suggest-paths.ts';
import { addWorkspace, findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';

test('suggestions use at most two short git processes per workspace, and further requests get none', async () => {
  const { storage, remove } = await sqlite.open();
  onTestFinished(remove);
  const synced = { workspace_id: 'game', name: 'main', head: 'f'.repeat(40), synced_at: 1, received_objects: 1 };
  await storage.commit('global', async (db) => {
    await addWorkspace(db, storage.now, { id: 'game', remote: 'https://git.example.com/r.git' });
    await db.insertInto('synced_branches').values(synced).execute();
  });
  const workspace = await findWorkspace(storage.read, 'game');
  if (workspace === undefined) throw new Error('The workspace was not added.');
  const listed = Promise.withResolvers<readonly FolderEntry[]>();
  const queries: FolderQuery[] = [];
  const listFolder = (_: string, query: FolderQuery) => {
    queries.push(query);
    return listed.promise;
  };
  const { suggest } = createSuggestPaths({ storage, git: { listFolder, listBlobs: async () => new Map() } });
  const all = Array.from({ length: 10 }, () => suggest(workspace, 'a/B'));
  const others = all.slice(2);
  expect(await Promise.all(others)).toEqual(others.map(() => []));
  expect(queries).toHaveLength(2);
  for (const { commit, folder, limits, max } of queries) {
    expect([commit, folder, limits.timeoutMs <= 2_000, max <= 50]).toEqual([synced.head, 'a', true, true]);
  }
  listed.resolve([{ name: 'bc', isFolder: true }]);
  expect(await Promise.all(all.slice(0, 2))).toEqual([['a/bc/'], ['a/bc/']]);
});
