import { utimes } from 'node:fs/promises';
import pino from 'pino';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createObjectMaintenance } from '../../../src/service/lfs/object-maintenance.ts';
import { createObjectStore } from '../../../src/service/lfs/object-store.ts';
import type { ObjectName } from '../../../src/service/lfs/pointer.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { removeWorkspaceAudited } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { json } from '../../support/other-servers/responses.ts';
import { objectName, storeObject } from '../../support/stored-object.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { operator } from '../../support/trusted-jobs.ts';
import { sharedService } from '../http/shared-service.ts';

describe.each(databaseKinds)('maintenance of LFS objects on $name', (kind) => {
  const service = sharedService(kind);
  const lines: string[] = [];
  let metrics: ReturnType<typeof createMetrics>;
  /** The needed objects by commit. */
  const needed = new Map<string, readonly ObjectName[]>();
  const errors: unknown[] = [];

  beforeEach(() => {
    metrics = createMetrics();
    lines.length = 0;
    errors.length = 0;
  });

  const upkeep = () =>
    createObjectMaintenance({
      storage: service.storage,
      objectsOf: (workspace) => createObjectStore(service.dataFolder, workspace),
      git: {
        missingCommits: async () => new Set(),
        async smallBlobs(_workspace, { commit }, _limits, onBlob) {
          const found = needed.get(commit);
          if (found === undefined) throw new Error('git failed');
          for (const object of found) onBlob({ path: object.oid, content: Buffer.from(pointerTo(object)) });
        },
      },
      metrics,
      log: pino({}, { write: (line: string) => lines.push(line) }),
      signal: new AbortController().signal,
      onError: (error) => errors.push(error),
    });

  type StoredObject = Awaited<ReturnType<typeof storeObject>>;

  /** A workspace with three objects of 100 bytes; a synced branch needs the oldest one. */
  async function stocked(lfs_limit: number | null) {
    const workspace = await service.workspace(undefined, { lfs_limit });
    const stored: StoredObject[] = [];
    for (const [index, text] of ['one', 'two', 'three'].entries()) {
      const object = await storeObject(service.dataFolder, workspace, Buffer.from(text.padEnd(100)));
      const at = new Date(Date.now() - (10 - index) * 86_400_000);
      await utimes(object.path, at, at);
      stored.push(object);
    }
    const head = `head of ${workspace}`;
    needed.set(head, stored.slice(0, 1));
    await service.storage.commit({ workspace }, (db) =>
      db
        .insertInto('synced_branches')
        .values({ workspace_id: workspace, name: 'main', head, synced_at: 1, received_objects: 1 })
        .execute(),
    );
    const store = createObjectStore(service.dataFolder, workspace);
    const left = async () => {
      const found = await Promise.all(stored.map(({ oid }) => store.find(oid)));
      return found.map((each) => each !== undefined);
    };
    return { workspace, head, left };
  }

  const metric = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value;

  test('measures all workspaces, evicts objects above the limit, and reports heads that exceed it', async () => {
    const [free, limited, small] = [await stocked(null), await stocked(200), await stocked(50)];
    await upkeep().maintainAll();
    expect([await free.left(), await limited.left(), await small.left()]).toEqual([
      [true, true, true],
      [true, false, true],
      [true, false, false],
    ]);
    expect([await metric('workspace_lfs_over_limit'), await metric('workspace_lfs_evicted_total')]).toEqual([1, 3]);
    expect(await metric('workspace_lfs_bytes')).toBeGreaterThanOrEqual(600);
    const warnings = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
    expect(warnings).toMatchObject([{ workspace: small.workspace, limit_bytes: 50, needed_bytes: 100 }]);
    expect(errors).toEqual([]);
  });

  test('removes nothing if the needed objects are unknown, and continues with other workspaces', async () => {
    const [broken, limited] = [await stocked(50), await stocked(200)];
    needed.delete(broken.head);
    await upkeep().maintainAll();
    expect([await broken.left(), await limited.left()]).toEqual([
      [true, true, true],
      [true, false, true],
    ]);
    expect(errors).toContainEqual(new Error('git failed'));
  });

  test('does nothing for a workspace that was removed', async () => {
    const { workspace, left } = await stocked(50);
    const { storage } = service;
    await storage.commit('global', (db) => removeWorkspaceAudited(db, storage.now, operator, workspace));
    upkeep().schedule(workspace);
    await upkeep().maintainAll();
    expect(await left()).toEqual([true, true, true]);
  });
});

describe('after a sync', () => {
  const service = sharedService();

  test('removes old objects that no synced head needs, and keeps all needed ones', async () => {
    const store = await startLfsStore();
    onTestFinished(store.close);
    store.behaviour.batch = (request, asked) => {
      const objects = asked.map((object) => ({
        ...object,
        actions: { download: { href: `http://${request.headers.host}/objects/${object.oid}` } },
      }));
      return json(200, { transfer: 'basic', objects });
    };
    const repository = createRepository(temporaryFolder());
    const workspace = await service.workspace(repository.path, { lfs_url: store.url, lfs_limit: 250 });
    const stored = createObjectStore(service.dataFolder, workspace);
    const asset = (text: string) => objectName(Buffer.from(text.padEnd(100)));
    const commitAsset = (branch: string, path: string, text: string): void => {
      repository.commit({ branch, files: { [path]: pointerTo(store.put(text.padEnd(100))) } });
    };
    async function sync(branch: string): Promise<void> {
      const address = `/v1/workspaces/${workspace}`;
      const { headers } = await service.ask('POST', `${address}/sync`, { token: service.secret, json: { branch } });
      const status = async () =>
        (await service.ask('GET', headers.get('location') ?? '', { token: service.secret })).body.status;
      await expect.poll(status, { timeout: 20_000 }).toBe('succeeded');
    }
    async function age(text: string): Promise<void> {
      const at = new Date(Date.now() - 86_400_000);
      await utimes((await stored.find(asset(text).oid))?.path ?? '', at, at);
    }
    const has = async () =>
      Promise.all(['first', 'second', 'third'].map(async (text) => (await stored.find(asset(text).oid)) !== undefined));

    commitAsset('main', 'Hero.uasset', 'first');
    await sync('main');
    commitAsset('side', 'World.uasset', 'second');
    await sync('side');
    for (const text of ['first', 'second']) await age(text);
    commitAsset('main', 'Hero.uasset', 'third');
    await sync('main');
    await expect.poll(has, { timeout: 20_000 }).toEqual([false, true, true]);
    await age('third');
    await sync('main');
    expect((await stored.find(asset('third').oid))?.lastUsedAt).toBeGreaterThan(Date.now() - 60_000);

    repository.git('update-ref', '-d', 'refs/heads/side');
    commitAsset('main', 'World.uasset', 'fourth');
    await sync('main');
    await expect.poll(has, { timeout: 20_000 }).toEqual([false, false, true]);
  });
});
