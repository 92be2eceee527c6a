import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createReleaseMerged } from '../../../src/service/latest/release-merged.ts';
import { commitReleasesOf } from '../../../src/service/locks/release.ts';
import { updateWorkspaceAudited } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

const operator = { name: 'operator:ada', tokenId: null, address: null };

describe.each(databaseKinds)('a lock of a person in a workspace with release_on, on $name', (kind) => {
  const service = serviceOfTests({ resolve: async () => ['93.184.215.14'] }, kind);
  const folder = folderOfTests();
  let token: string;
  let repositories = 0;
  beforeAll(async () => {
    token = (await service.token({ name: 'ada' })).secret;
  });

  async function setUp({ release_on = 'main' }: { readonly release_on?: string | null } = {}) {
    repositories += 1;
    const repository = createRepository(folder, `remote-${repositories}.git`);
    repository.commit(
      { branch: 'main', files: { 'a.umap': '1', 'b.umap': '1' } },
      { branch: 'feature', from: 'main', files: { 'a.umap': 'mine' } },
    );
    const workspace = await service.workspace(`file://${repository.path}`, { release_on });
    const address = `/v1/workspaces/${workspace}`;
    const take = async (path: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) => {
      const json = { path, type: 'exclusive', ttl: '1h', until_merged: true, ...more };
      expect((await service.ask('POST', `${address}/locks`, { token, json, headers })).status).toBe(201);
    };
    const held = async (): Promise<string[]> => {
      const { body } = await service.ask('GET', `${address}/locks`, { token });
      return body.locks.map(({ path }: { readonly path: string }) => path);
    };
    const sync = async (branch = 'main') => {
      const { headers } = await service.ask('POST', `${address}/sync`, { token, json: { branch } });
      const state = async () => (await service.ask('GET', headers.get('location') ?? '', { token })).body.status;
      await expect.poll(state, { interval: 20 }).toBe('succeeded');
    };
    /** Waits until the service knows the head of the branch at the time of the locks. */
    const untilCompared = () =>
      expect
        .poll(
          async () => {
            const rows = await service.storage.read
              .selectFrom('locks')
              .select('id')
              .where('workspace_id', '=', workspace)
              .where('until_merged', '=', 1)
              .where('merge_base', 'is', null)
              .execute();
            return rows.length === 0;
          },
          { timeout: 20_000, interval: 50 },
        )
        .toBe(true);
    const history = async () =>
      service.storage.read
        .selectFrom('lock_history')
        .select(['kind', 'path', 'ended_by'])
        .where('workspace_id', '=', workspace)
        .execute();
    const json = { url: 'https://ci.example.com/hook', events: ['lock.released'] };
    await service.ask('POST', `${address}/hooks`, { token, json });
    const events = async () =>
      (
        await service.storage.read
          .selectFrom('deliveries')
          .selectAll('deliveries')
          .innerJoin('hooks', 'hooks.id', 'hook_id')
          .where('workspace_id', '=', workspace)
          .execute()
      ).map(({ event }) => JSON.parse(event).data);
    return { repository, workspace, take, held, sync, untilCompared, history, events };
  }

  const setReleaseOn = (id: string, release_on: string) =>
    service.storage.commit({ workspace: id }, (db) =>
      updateWorkspaceAudited(db, service.storage.now, operator, { id, release_on }),
    );

  test('ends by a merge, while locks on other files and locks of jobs stay', async () => {
    const { repository, take, held, sync, untilCompared, history, events } = await setUp();
    await take('a.umap');
    await take('b.umap');
    await take('c.umap', {}, { referer: 'https://github.com/studio/game/actions/runs/1' });
    await take('job.umap', { until_merged: false });
    await untilCompared();
    repository.commit({
      branch: 'main',
      merge: 'feature',
      files: { 'a.umap': 'mine', 'c.umap': '1', 'job.umap': '1' },
    });
    await sync();
    expect(await held()).toEqual(['b.umap', 'c.umap', 'job.umap']);
    expect(await history()).toEqual([{ kind: 'merged', path: 'a.umap', ended_by: 'main' }]);
    const [event, ...others] = await events();
    expect([event, others]).toEqual([
      { lock: expect.objectContaining({ path: 'a.umap' }), reason: 'merged', branch: 'main' },
      [],
    ]);
  });

  test('ends only by a change after the lock', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    await sync();
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await take('a.umap');
    await untilCompared();
    await sync();
    expect(await held()).toEqual(['a.umap']);
    repository.commit({ branch: 'main', files: { 'a.umap': '3' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test('ends by a revert, a deletion and a rename to or from it', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    repository.commit({ branch: 'main', files: { 'gone.umap': 'g', 'old.umap': 'o', 'reverted.umap': '1' } });
    repository.commit({ branch: 'main', files: { 'reverted.umap': '2' } });
    for (const path of ['reverted.umap', 'gone.umap', 'old.umap', 'new.umap', 'b.umap']) await take(path);
    await untilCompared();
    repository.commit({
      branch: 'main',
      removed: ['gone.umap', 'old.umap'],
      files: { 'reverted.umap': '1', 'new.umap': 'o' },
    });
    await sync();
    expect(await held()).toEqual(['b.umap']);
  });

  test('does not end by a forced push, after which the comparison begins again', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await take('a.umap');
    await untilCompared();
    repository.commit({ branch: 'main', from: repository.git('rev-parse', 'main~1').trim(), files: { 'a.umap': '3' } });
    await sync();
    expect(await held()).toEqual(['a.umap']);
    repository.commit({ branch: 'main', files: { 'a.umap': 'again' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test('does not end by the first push after a forced push that took commits back', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    repository.commit({ branch: 'main', files: { 'b.umap': '2' } });
    await take('a.umap');
    await untilCompared();
    repository.git('update-ref', 'refs/heads/main', repository.git('rev-parse', 'main~1').trim());
    await sync();
    for (const [version, locks] of [
      ['2', ['a.umap']],
      ['3', []],
    ] as const) {
      repository.commit({ branch: 'main', files: { 'a.umap': version } });
      await sync();
      expect(await held()).toEqual(locks);
    }
  });

  test('does not end by commits that a forced push has taken back and another one restores', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    const before = repository.head('main');
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    const head = repository.head('main');
    await take('a.umap');
    await untilCompared();
    for (const commit of [before, head]) {
      repository.git('update-ref', 'refs/heads/main', commit);
      await sync();
    }
    expect(await held()).toEqual(['a.umap']);
    repository.commit({ branch: 'main', files: { 'a.umap': '3' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test('ends by a change after the history was rewritten and the mirror removed', async () => {
    const { repository, workspace, take, held, sync, untilCompared } = await setUp();
    await take('a.umap');
    await untilCompared();
    repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', 'main^{tree}', '-m', 'all').trim());
    await rm(join(service.dataFolder, 'mirrors', `${workspace}.git`), { recursive: true, maxRetries: 10 });
    await sync();
    expect(await held()).toEqual(['a.umap']);
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test('ends by a merge if the remote did not answer when it was taken', async () => {
    const { repository, workspace, take, held, sync, untilCompared } = await setUp();
    await rename(repository.path, `${repository.path}.away`);
    await take('a.umap');
    const failed = () =>
      service.storage.commit({ workspace }, (db) =>
        db
          .updateTable('syncs')
          // The next one is queued after some time.
          .set({ finished_at: 0 })
          .where((where) => where.and({ workspace_id: workspace, status: 'failed' }))
          .executeTakeFirst(),
      );
    await expect.poll(async () => (await failed()).numUpdatedRows, { interval: 50 }).toBeGreaterThan(0n);
    await rename(`${repository.path}.away`, repository.path);
    await untilCompared();
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test('ends by a merge if the workspace was set so after the lock', async () => {
    const { repository, workspace, take, held, sync, untilCompared } = await setUp({ release_on: null });
    await take('a.umap');
    await sync();
    await setReleaseOn(workspace, 'main');
    await untilCompared();
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test.each(['before', 'while'])(
    'does not end if the workspace is set to another branch %s a sync ends',
    async (time) => {
      const { repository, workspace, take, held, untilCompared } = await setUp();
      await take('a.umap');
      await untilCompared();
      if (time === 'before') await setReleaseOn(workspace, 'feature');
      const { storage } = service;
      const releaseMerged = createReleaseMerged({
        storage,
        git: {
          relationOf: async () => 'ahead',
          async listDifferences() {
            await setReleaseOn(workspace, 'feature');
            return new Set(['a.umap']);
          },
        },
        locks: { commitReleases: commitReleasesOf(storage) },
        onError: (error) => expect.unreachable(String(error)),
      });
      await releaseMerged({ workspace, branch: 'main', head: 'f'.repeat(40), startedAt: Number.MAX_SAFE_INTEGER });
      expect(await held()).toEqual(['a.umap']);
      await untilCompared();
      const { merge_base } = await storage.read
        .selectFrom('locks')
        .select('merge_base')
        .where('workspace_id', '=', workspace)
        .executeTakeFirstOrThrow();
      expect(merge_base).toBe(repository.head('feature'));
    },
  );

  test('does not end by a change on another branch, or unless the workspace is set so', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    await take('a.umap');
    await untilCompared();
    repository.commit({ branch: 'feature', files: { 'a.umap': 'x' } });
    await sync('feature');
    expect(await held()).toEqual(['a.umap']);
    const off = await setUp({ release_on: null });
    await off.take('a.umap');
    await off.sync();
    off.repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await off.sync();
    expect(await off.held()).toEqual(['a.umap']);
  });
});
