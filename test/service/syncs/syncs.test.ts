import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository, manyCommits, type Repository } from '../../support/git-repository.ts';
import type { Reply } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeSyncs } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { endOfSync } from '../mirror/mirror-of.ts';

describe.each(databaseKinds)('syncs on $name', (kind) => {
  const service = serviceOfTests({}, kind);
  let token: string;

  beforeAll(async () => {
    token = (await service.token({ scopes: ['sync'] })).secret;
  });

  async function workspaceWithRepository(): Promise<{ readonly workspace: string; readonly remote: Repository }> {
    const remote = createRepository(temporaryFolder());
    return { remote, workspace: await service.workspace(remote.path) };
  }

  const trigger = (workspace: string, branch: string, headers: Record<string, string> = {}) =>
    service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, headers, json: { branch } });

  const ended = (triggered: Reply) => endOfSync(service, token, triggered);

  test('a trigger is queued with an estimate: what a new branch will transfer, or what the last sync received', async () => {
    const { workspace, remote } = await workspaceWithRepository();
    const none = { received_objects: 0, head: null, error: null, started_at: null };
    async function sync(): Promise<readonly [estimated: number, received: number]> {
      const queued = await trigger(workspace, 'main');
      expect(queued.status).toBe(202);
      expect(queued.body).toMatchObject({ status: 'queued', branch: 'main', ...none });
      expect(queued.body.sync_id).toMatch(/^sync_/);
      const { status, head, error, received_objects: received } = await ended(queued);
      expect({ status, head, error }).toEqual({ status: 'succeeded', head: remote.head('main'), error: null });
      return [queued.body.estimated_objects, received];
    }
    remote.commit(...manyCommits(150));
    const [estimated, all] = await sync();
    expect(estimated).toBe(all);
    expect(all).toBeGreaterThan(150);
    expect(await sync()).toEqual([0, 0]);
    remote.commit(...manyCommits(40, 'main', 'more'));
    expect(await sync()).toEqual([all, expect.any(Number)]);
  });

  test('branches are those of the remote, each with its synced state', async () => {
    const { workspace, remote } = await workspaceWithRepository();
    remote.commit({ branch: 'main', files: { a: '1' } }, { branch: 'release/1.0', from: 'main', files: { b: '2' } });
    const list = async () =>
      (await service.ask('GET', `/v1/workspaces/${workspace}/branches`, { token })).body.branches;
    const unsynced = { synced_head: null, synced_at: null };
    expect(await list()).toEqual([
      { name: 'main', head: remote.head('main'), ...unsynced, default: true },
      { name: 'release/1.0', head: remote.head('release/1.0'), ...unsynced, default: false },
    ]);
    const before = remote.head('main');
    await ended(await trigger(workspace, 'main'));
    remote.commit({ branch: 'main', files: { a: '2' } });
    expect((await list())[0]).toEqual({
      name: 'main',
      head: remote.head('main'),
      synced_head: before,
      synced_at: expect.stringMatching(/Z$/),
      default: true,
    });
  });

  test('a trigger for an unknown branch responds 422, and names some branches of the remote', async () => {
    const { workspace, remote } = await workspaceWithRepository();
    remote.commit({ branch: 'main', files: { a: '1' } });
    const { status, body } = await trigger(workspace, 'mian');
    expect([status, body.errors[0].pointer]).toEqual([422, '#/branch']);
    expect(body.detail).toContain('main');
    remote.commit({ branch: 'mian', from: 'main', files: { a: '2' } });
    expect((await trigger(workspace, 'mian')).status).toBe(202);
  });

  test('many triggers cause only a few syncs, and the last commit reaches the mirror', async () => {
    const { workspace, remote } = await workspaceWithRepository();
    remote.commit(...manyCommits(20));
    const replies: Reply[] = [];
    const [waves, together] = [runs(5, 10), runs(30, 100)];
    for (let wave = 0; wave < waves; wave += 1) {
      replies.push(...(await Promise.all(Array.from({ length: together }, () => trigger(workspace, 'main')))));
    }
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(replies.map(({ body }) => body.status))).toEqual(new Set(['queued']));
    const ids = new Set(replies.map(({ body }) => body.sync_id));
    // A trigger joins a queued sync, so at most one sync starts per wave, plus the running one.
    expect(ids.size).toBeLessThanOrEqual(2 * waves);
    for (const reply of replies.slice(-1)) expect((await ended(reply)).head).toBe(remote.head('main'));
  });

  test('a trigger during a sync of the branch queues another sync, which runs after it', async () => {
    const { workspace, remote } = await workspaceWithRepository();
    remote.commit(...manyCommits(1500));
    const first = await trigger(workspace, 'main');
    await expect
      .poll(async () => (await service.ask('GET', first.headers.get('location') ?? '', { token })).body.status, {
        interval: 2,
      })
      .not.toBe('queued');
    const second = await trigger(workspace, 'main');
    expect(second.body.sync_id).not.toBe(first.body.sync_id);
    const [one, two] = [await ended(first), await ended(second)];
    expect([one.status, two.status]).toEqual(['succeeded', 'succeeded']);
    expect(Date.parse(two.started_at)).toBeGreaterThanOrEqual(Date.parse(one.finished_at));
  });

  test.each([
    ['retried', 1, { status: 'succeeded' }],
    ['failed after too many attempts', 5, { error: expect.stringContaining('did not finish in 5 attempts') }],
  ])('a sync whose instance has died is %s', async (_, attempts, end) => {
    const { workspace, remote } = await workspaceWithRepository();
    remote.commit({ branch: 'main', files: { a: '1' } });
    const id = `sync_00000000-0000-4000-8000-00000000000${attempts}`;
    const left = {
      status: 'running',
      claimed_by: 'somebody who is no more',
      claimed_until: 1,
      finished_at: null,
    } as const;
    await storeSyncs(service.storage, { id, workspace_id: workspace, ...left, attempts });
    await expect
      .poll(async () => (await service.ask('GET', `/v1/workspaces/${workspace}/syncs/${id}`, { token })).body, {
        timeout: 20_000,
      })
      .toMatchObject(end);
  });
});
