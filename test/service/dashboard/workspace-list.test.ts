import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Scope } from '../../../src/interface/scopes.ts';
import { branchSummary } from '../../../src/service/dashboard/pages/branch-summary.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { type RunningService, startTestService, type TokenOptions } from '../../support/running-service.ts';
import { visit } from './browser-like.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
});
afterAll(() => service.stop());

async function listFor(options: TokenOptions): Promise<string> {
  const visitor = visit(service);
  await visitor.signIn((await service.token(options)).secret);
  return (await visitor.get('/')).text;
}

test('says what to do where there is no workspace, and who to ask where a token sees none', async () => {
  expect(await listFor({})).toContain('workspace-service workspace add');
  expect(await listFor({ workspaces: ['gone'] })).toContain('Your token sees no workspaces.');
});

test('shows of a workspace what the token may see', async () => {
  const workspace = await service.workspace('https://ada:s3cret-token@127.0.0.1:1/assets.git');
  await service.workspace();
  await service.storage.commit('global', async (db) => {
    const times = { created_at: 1, started_at: 2, finished_at: 3 };
    const counts = { estimated_objects: 0, received_objects: 0, attempts: 1 };
    await db
      .insertInto('syncs')
      .values({ id: 'sync_1', workspace_id: workspace, branch: 'a<b>', status: 'failed', ...counts, ...times })
      .execute();
  });
  const seen = async (...scopes: readonly Scope[]) => {
    const page = await listFor({ scopes, workspaces: [workspace] });
    expect(page.match(/<th scope="row">/g)).toHaveLength(1);
    expect(page).not.toContain('s3cret-token');
    expect(page).not.toContain('<b>');
    return {
      sync: page.includes(`/workspaces/${workspace}/syncs/sync_1`),
      branch: page.includes('a&lt;b&gt;'),
      locks: page.includes(`/workspaces/${workspace}/locks`),
    };
  };
  expect(await seen()).toEqual({ sync: false, branch: false, locks: false });
  expect(await seen('sync')).toEqual({ sync: true, branch: true, locks: false });
  expect(await seen('locks:write')).toEqual({ sync: false, branch: false, locks: true });
});

test('does not wait for remotes: what they have answered is there the next time', async () => {
  const workspace = await service.workspace('https://127.0.0.1:1/assets.git');
  const visitor = visit(service);
  await visitor.signIn((await service.token({ workspaces: [workspace] })).secret);
  expect((await visitor.get('/')).text).toContain('asking');
  // Nobody has asked for it but the page.
  await expect.poll(async () => (await visitor.get('/')).text, { timeout: 30_000 }).toContain('no answer');
});

test('sums up the branches that were synced, and says how many never were', () => {
  const heads = { main: '1', release: '2', never: '3' };
  const listing = {
    branches: new Map(Object.entries(heads).map(([name, head]) => [branchNamed(name), head])),
    defaultBranch: undefined,
    askedAt: 100,
    answeredAt: 100,
  };
  const summary = (synced: Readonly<Record<string, string>>, syncedAt = 50) =>
    branchSummary(
      { listing, failure: undefined },
      new Map(Object.entries(synced).map(([name, head]) => [name, { head, syncedAt }])),
    );
  const one = { more: '1 never synced' };
  expect(summary({ main: '0', release: '2' })).toEqual({ state: 'behind', text: '1 of 2 behind', ...one });
  expect(summary({ main: '1', release: '2' })).toEqual({ state: 'current', text: 'all 2 up to date', ...one });
  expect(summary({})).toEqual({ state: 'unsynced', text: 'never synced', more: '3 branches' });
  // What was synced since the remote was asked is not held against an older answer.
  expect(summary({ main: '9', release: '2' }, 150)).toMatchObject({ state: 'unknown' });
  const failure = { why: 'No.', askedAt: 200, answeredAt: 200 };
  const synced = new Map([['main', { head: '1', syncedAt: 50 }]]);
  expect(branchSummary({ listing, failure }, synced)).toEqual({
    state: 'silent',
    text: 'no answer',
    more: '1 branch synced',
  });
});
