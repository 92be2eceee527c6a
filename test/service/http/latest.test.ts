import { rename } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { WorkspaceSettings } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository, type Repository } from '../../support/git-repository.ts';
import type { Reply } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { expectDescribed } from './described-operations.ts';

const refuse: Partial<WorkspaceSettings> = { latest: 'refuse', latest_branches: 'main,release/*' };

describe.each(databaseKinds)('a lock on a file with a newer version on another branch, on $name', (kind) => {
  const service = serviceOfTests({}, kind);
  const folder = folderOfTests();
  let token: string;
  let repositories = 0;
  beforeAll(async () => {
    token = (await service.token()).secret;
  });

  async function setUp(settings: Partial<WorkspaceSettings> = refuse) {
    repositories += 1;
    const repository = createRepository(folder, `remote-${repositories}.git`);
    repository.commit(
      { branch: 'main', files: { 'a.umap': '1', 'b.umap': '1' } },
      { branch: 'feature', from: 'main', files: { 'c.umap': '1' } },
      { branch: 'release/1.4', from: 'main', files: { 'b.umap': 'fixed' } },
    );
    const workspace = await service.workspace(`file://${repository.path}`, settings);
    const ask = (path: string, json: object, headers: Readonly<Record<string, string>> = {}) =>
      service.ask('POST', `/v1/workspaces/${workspace}/${path}`, { token, json, headers });
    const take = async (path: string, branch?: string, more: Readonly<Record<string, string>> = {}): Promise<Reply> => {
      const reply = await ask(
        'locks',
        { path, type: 'exclusive', ttl: '1h' },
        { ...(branch !== undefined && { 'lock-branch': branch }), ...more },
      );
      expectDescribed('POST', '/v1/workspaces/{id}/locks', reply);
      return reply;
    };
    return { repository, take };
  }

  const newest = (repository: Repository, branch: string) => ({
    branch,
    commit: repository.head(branch),
    author: 'Test',
    at: expect.stringMatching(/^\d{4}-.*Z$/),
  });

  test('is refused, with branch, commit, author, time and advice, until the branch is merged', async () => {
    const { repository, take } = await setUp();
    expect((await take('a.umap', 'feature')).status).toBe(201);
    const refused = await take('b.umap', 'feature');
    expect([refused.status, refused.body.type]).toEqual([409, 'urn:workspace-automation:problem:outdated']);
    expect(refused.body.outdated).toEqual({ path: 'b.umap', ...newest(repository, 'release/1.4') });
    expect(refused.body.detail).toBe(
      `b.umap is outdated on feature: release/1.4 has a newer version, from commit ${repository.head('release/1.4').slice(0, 10)} by Test at ${refused.body.outdated.at}. Merge release/1.4 first.`,
    );
    // A branch that has the version, or a request without a branch, is not outdated.
    expect((await take('b.umap', 'release/1.4')).status).toBe(201);
  });

  test('is acquired once the branch is merged, although the mirror was compared a moment before', async () => {
    const { repository, take } = await setUp();
    expect((await take('b.umap', 'feature')).status).toBe(409);
    repository.commit({ branch: 'feature', merge: 'release/1.4', files: { 'b.umap': 'fixed' } });
    await expect.poll(async () => (await take('b.umap', 'feature')).status).toBe(201);
  });

  test('is acquired with the newer version in the response, if the workspace only warns', async () => {
    const { repository, take } = await setUp({ ...refuse, latest: 'warn' });
    const taken = await take('b.umap', 'feature', { 'idempotency-key': 'k' });
    expect([taken.status, taken.body.outdated]).toEqual([
      201,
      { path: 'b.umap', ...newest(repository, 'release/1.4') },
    ]);
    expect((await take('b.umap', 'feature', { 'idempotency-key': 'k' })).body).toEqual(taken.body);
  });

  test('is not compared without a branch, with a branch that the remote does not have, and by default', async () => {
    const { take } = await setUp();
    const local = await take('b.umap', 'not-pushed-yet');
    expect([local.status, local.body.outdated]).toEqual([201, null]);
    expect((await take('a.umap')).status).toBe(201);
    const off = await setUp({});
    const unknown = await off.take('b.umap', 'feature');
    expect([unknown.status, unknown.body.outdated]).toEqual([201, undefined]);
  });

  test('a request in line is refused before it waits', async () => {
    const { take } = await setUp();
    expect((await take('b.umap', 'release/1.4')).status).toBe(201);
    const waiting = await take('b.umap', 'feature', { prefer: 'wait=30', 'idempotency-key': 'w' });
    expect(waiting.body.type).toContain('outdated');
  });

  test('deletions, renames and merges count as newer versions; the same change on both branches does not', async () => {
    const { repository, take } = await setUp();
    repository.git('branch', '-D', 'release/1.4');
    repository.commit(
      { branch: 'main', files: { 'same.umap': 'x' } },
      { branch: 'feature', files: { 'same.umap': 'x' } },
      { branch: 'main', removed: ['a.umap'], files: { 'renamed.umap': '1' } },
    );
    const outdated: unknown[] = [];
    for (const path of ['a.umap', 'renamed.umap', 'same.umap', 'b.umap'])
      outdated.push((await take(path, 'feature')).body.outdated);
    expect(outdated).toEqual([
      { path: 'a.umap', ...newest(repository, 'main'), deleted: true },
      { path: 'renamed.umap', ...newest(repository, 'main') },
      ...[null, null],
    ]);
  });

  test('a silent remote is waited for briefly, and the answer says how old the mirror is', async () => {
    const { repository, take } = await setUp();
    expect((await take('b.umap', 'feature')).status).toBe(409);
    const expected = newest(repository, 'release/1.4');
    await rename(repository.path, `${repository.path}-down`);
    // Asks the remote again, because it does not know the branch.
    await take('b.umap', 'not-pushed-yet');
    const refused = await take('b.umap', 'feature');
    expect(refused.body.outdated).toEqual({ path: 'b.umap', ...expected });
    expect(refused.body.detail).toContain('The files were compared with the mirror as of 20');
    const granted = await take('a.umap', 'feature');
    expect([granted.status, granted.body.as_of]).toEqual([201, expect.stringMatching(/^20/)]);
  });
});
