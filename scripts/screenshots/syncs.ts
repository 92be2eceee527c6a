import { createHash } from 'node:crypto';

import { type BranchName, parseBranchName } from '../../src/interface/branch-name.ts';
import type { RemoteBranches } from '../../src/service/git/fetch.ts';
import type { Database, Storage } from '../../src/service/storage/storage.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { operator } from '../../test/support/operator.ts';
import type { Picture } from './pictured-service.ts';
import { withPicturedService } from './pictured-service.ts';

const remoteOf = (workspace: string): string => `https://git.example.com/studio/${workspace}.git`;
const commitOf = (what: string): string => createHash('sha1').update(what).digest('hex');

function branchNamed(name: string): BranchName {
  const parsed = parseBranchName(name);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

const remoteWith = (...names: readonly string[]): RemoteBranches => ({
  branches: new Map(names.map((name) => [branchNamed(name), commitOf(name)])),
  defaultBranch: branchNamed('main'),
});

const branches = {
  film: ['main', 'edit/trailer'],
  game: ['main', 'release/1.4', 'release/1.5', 'feature/cape', 'feature/night-arena'],
  vehicles: ['main'],
} as const;

export const remotes = Object.fromEntries(
  Object.entries(branches).map(([id, names]) => [remoteOf(id), remoteWith(...names)]),
);

const minute = 60_000;

interface PastSync {
  readonly workspace: string;
  readonly branch: string;
  readonly minutesAgo: number;
  readonly seconds: number;
  readonly error?: string;
}

const insertSync = (db: Database, now: number, index: number, sync: PastSync) => {
  const { workspace, branch, minutesAgo, seconds, error = null } = sync;
  const at = now - minutesAgo * minute;
  return db
    .insertInto('syncs')
    .values({
      id: `sync_00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      workspace_id: workspace,
      branch,
      status: error === null ? 'succeeded' : 'failed',
      estimated_objects: seconds * 37,
      received_objects: error === null ? seconds * 37 : 0,
      head: error === null ? commitOf(branch) : null,
      error,
      attempts: 1,
      created_at: at,
      started_at: at,
      finished_at: at + seconds * 1_000,
      requested_by: index % 4 === 0 ? 'ada' : 'release pipeline',
    })
    .execute();
};

/** The syncs of one day, the same in each run. */
const syncs: readonly PastSync[] = [
  { workspace: 'vehicles', branch: 'main', minutesAgo: 3_100, seconds: 9 },
  { workspace: 'film', branch: 'main', minutesAgo: 95, seconds: 31 },
  ...Array.from({ length: 36 }, (_, index): PastSync => {
    const failed = index === 11 || index === 28;
    return {
      workspace: 'game',
      branch: branches.game[(index * 2) % 3] ?? 'main',
      minutesAgo: (36 - index) * 38,
      seconds: failed ? 12 : 18 + ((index * 29) % 47) + (index % 12 === 6 ? 90 : 0),
      ...(failed && { error: 'The remote https://git.example.com/studio/game.git closed the connection.' }),
    };
  }),
];

export async function furnishSyncs({ commit }: Storage): Promise<void> {
  const at = Date.now();
  await commit('global', async (db) => {
    for (const id of Object.keys(branches)) await addWorkspace(db, operator, { id, remote: remoteOf(id) });
    for (const [index, sync] of syncs.entries()) await insertSync(db, at, index, sync);
    const synced = [
      ['film', 'main', 'main'],
      ['game', 'main', 'main'],
      ['game', 'release/1.4', 'release/1.4'],
      ['game', 'release/1.5', 'before'],
      ['vehicles', 'main', 'main'],
    ] as const;
    for (const [workspace, name, head] of synced) {
      await db
        .insertInto('synced_branches')
        .values({
          workspace_id: workspace,
          name,
          head: commitOf(head),
          synced_at: at - 40 * minute,
          received_objects: 100,
        })
        .execute();
    }
    for (const [index, path] of ['Content/Hero.uasset', 'Content/Maps/Arena.umap'].entries()) {
      const lock = {
        workspace_id: 'game',
        path,
        id: `lock_${index}`,
        type: 'exclusive',
        owner: 'ada',
      };
      const times = { acquired_at: at - (25 + index) * minute, expires_at: at + 200 * minute };
      await db
        .insertInto('locks')
        .values({ ...lock, ...times, origin: null, fence: index + 1 })
        .execute();
    }
  });
}

export const syncPictures: readonly Picture[] = [
  {
    name: 'syncs',
    show: (page, take) =>
      withPicturedService(remotes, async ({ storage, open }) => {
        await furnishSyncs(storage);
        await open(page, '/workspaces/game/syncs');
        await take();
      }),
  },
];
