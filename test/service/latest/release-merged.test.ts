import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

describe.each(databaseKinds)('a lock of a person ends when its file has changed on the branch, on $name', (kind) => {
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
      await expect.poll(state, { timeout: 20_000, interval: 20 }).toBe('succeeded');
    };
    /** Waits until the service knows the head of the branch at the time of the locks. */
    const untilCompared = () =>
      expect
        .poll(
          async () => {
            const rows = await service.storage.read
              .selectFrom('locks')
              .select(['id', 'merge_base'])
              .where('workspace_id', '=', workspace)
              .execute();
            return rows.every(({ id, merge_base }) => merge_base === null || merge_base !== id);
          },
          { timeout: 20_000, interval: 50 },
        )
        .toBe(true);
    const history = async () =>
      service.storage.read
        .selectFrom('lock_history')
        .select(['kind', 'path', 'ended_by'])
        .where('workspace_id', '=', workspace)
        .where('kind', '<>', 'acquired')
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

  test('by a merge, while locks on other files and locks of jobs stay', async () => {
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

  test('only by a change after the lock', async () => {
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

  test('also by a revert, a deletion and a rename to or from it', async () => {
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

  test('not by a forced push, after which the comparison begins again', async () => {
    const { repository, take, held, sync, untilCompared } = await setUp();
    repository.commit({ branch: 'main', files: { 'a.umap': '2' } });
    await take('a.umap');
    await untilCompared();
    repository.git('update-ref', 'refs/heads/main', repository.git('rev-parse', 'main~1').trim());
    await sync();
    expect(await held()).toEqual(['a.umap']);
    repository.commit({ branch: 'main', files: { 'a.umap': 'again' } });
    await sync();
    expect(await held()).toEqual([]);
  });

  test('not by a change on another branch, and not unless the workspace is set so', async () => {
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
