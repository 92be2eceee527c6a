import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { accepted, refused } from '../../../src/interface/parsed.ts';
import type { BranchName } from '../../../src/service/git/branch-name.ts';
import type { RemoteBranches } from '../../../src/service/git/remote-branches.ts';
import { findQueued } from '../../../src/service/syncs/queue.ts';
import { createPrepareSync } from '../../../src/service/syncs/trigger.ts';
import { createRemoteMemory } from '../../../src/service/workspaces/remote-memory.ts';
import type { Remotes } from '../../../src/service/workspaces/remotes.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

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
  const remotes: Remotes = {
    branches(_workspace, _limits, onStart) {
      onStart?.();
      return new Promise((resolve) => asked.push(resolve));
    },
    async estimate() {
      counts.estimates += 1;
      return 7;
    },
  };
  const remoteMemory = createRemoteMemory({ storage, remotes, stopping: new AbortController().signal });
  /** Waits until all earlier triggers have read the database: each trigger reads it first, one after the other. */
  async function allHaveRead(): Promise<void> {
    await findQueued(storage.read, workspace.id, main);
    await setImmediate();
  }
  return { prepare: createPrepareSync({ storage, remotes, remoteMemory }), asked, counts, allHaveRead };
}

test('many triggers list the remote once, and estimate once', async () => {
  const { prepare, asked, counts, allHaveRead } = withListings();
  const all = Array.from({ length: 50 }, () => prepare(workspace, main));
  await allHaveRead();
  asked[0]?.(listing(main));
  expect(new Set(await Promise.all(all))).toEqual(new Set([accepted(7)]));
  expect({ ...counts, listings: asked.length }).toEqual({ estimates: 1, listings: 1 });
});

test('later triggers of an unknown branch share the next listing instead of an earlier one', async () => {
  const { prepare, asked, allHaveRead } = withListings();
  const early = prepare(workspace, fresh);
  await expect.poll(() => asked.length).toBe(1);
  const later = Array.from({ length: 20 }, () => prepare(workspace, fresh));
  await allHaveRead();
  asked[0]?.(listing(main));
  expect(await early).toEqual(refused('The remote has no branch fresh. It has main.'));
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.(listing(main, fresh));
  for (const one of await Promise.all(later)) expect(one).toEqual(accepted(7));
  expect(asked).toHaveLength(2);
});

async function addSynced(id: string, name: BranchName, received_objects: number) {
  const synced = { ...workspace, id };
  await storage.commit('global', async (db) => {
    await addWorkspace(db, storage.now, synced);
    const head = { workspace_id: id, head: '1'.repeat(40), synced_at: 1, received_objects };
    await db
      .insertInto('synced_branches')
      .values({ ...head, name })
      .execute();
  });
  return synced;
}

test('a trigger does not share the listing of an earlier trigger that found nothing new', async () => {
  const { prepare, asked, counts, allHaveRead } = withListings();
  const current = await addSynced('current', main, 5);
  const early = prepare(current, main);
  await expect.poll(() => asked.length).toBe(1);
  const later = prepare(current, main);
  await allHaveRead();
  asked[0]?.(listing(main));
  expect(await early).toEqual(accepted(0));
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.({ ...listing(), branches: new Map([[main, '2'.repeat(40)]]) });
  expect([await later, counts.estimates]).toEqual([accepted(5), 0]);
});

test('a trigger does not share an earlier listing with the synced head of its branch', async () => {
  const { prepare, asked, allHaveRead } = withListings();
  const synced = await addSynced('synced', fresh, 1);
  const other = prepare(synced, main);
  await expect.poll(() => asked.length).toBe(1);
  const later = prepare(synced, fresh);
  await allHaveRead();
  asked[0]?.(listing(main, fresh));
  await other;
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.(listing(main, fresh));
  expect(await later).toMatchObject({ ok: true });
});

test('a trigger shares the next listing of its workspace if that of another branch came too early', async () => {
  const { prepare, asked, allHaveRead } = withListings();
  const other = prepare(workspace, main);
  await expect.poll(() => asked.length).toBe(1);
  const later = prepare(workspace, fresh);
  await allHaveRead();
  expect(asked).toHaveLength(1);
  asked[0]?.(listing(main));
  expect(await other).toMatchObject({ ok: true });
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.(listing(main, fresh));
  expect(await later).toMatchObject({ ok: true });
});
