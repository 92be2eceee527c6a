import { expect, test } from 'vitest';
import type { Scope } from '../../../src/interface/scopes.ts';
import { branchSummary } from '../../../src/service/dashboard/pages/workspaces.ts';
import { branchNamed } from '../../support/git-service.ts';
import type { TokenOptions } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeLocks, storeSyncs } from '../../support/stored-rows.ts';
import { signedIn } from './browser-like.ts';

const service = serviceOfTests();
const listFor = async (options: TokenOptions) => (await (await signedIn(service, options)).get('/')).text;

test('the start page says what to do if there are no workspaces, or if the token sees none', async () => {
  const forAdministrators = await listFor({});
  expect(forAdministrators).toContain('workspace-service workspace add');
  expect(forAdministrators).not.toContain('There are no workspaces yet.');
  expect(await listFor({ scopes: ['sync'] })).toContain('There are no workspaces yet.');
  expect(await listFor({ workspaces: ['gone'] })).toContain('Your token sees no workspaces.');
});

test('the start page shows only what the token may see of a workspace', async () => {
  const workspace = await service.workspace('https://127.0.0.1:1/assets.git');
  await service.workspace();
  await storeSyncs(service.storage, { id: 'sync_1', workspace_id: workspace });
  const seen = async (...scopes: readonly Scope[]) => {
    const page = await listFor({ scopes, workspaces: [workspace] });
    expect(page.match(/<th scope="row">/g)).toHaveLength(1);
    return {
      sync: page.includes(`/workspaces/${workspace}/syncs/sync_1`),
      locks: page.includes(`/workspaces/${workspace}/locks`),
    };
  };
  expect(await seen()).toEqual({ sync: false, locks: false });
  expect(await seen('sync')).toEqual({ sync: true, locks: false });
  expect(await seen('locks:write')).toEqual({ sync: false, locks: true });
});

test('the start page shows the oldest locks, locks that expire soon and silent remotes, if visible', async () => {
  const [one, other, hidden] = [await service.workspace(), await service.workspace(), await service.workspace()];
  const now = Date.now();
  const minute = 60_000;
  const ends = (minutes: number) => now + minutes * minute;
  await storeLocks(
    service.storage,
    { workspace_id: hidden, path: 'hidden', acquired_at: 1, expires_at: ends(1) },
    { workspace_id: one, path: 'oldest', acquired_at: 2, expires_at: ends(500) },
    { workspace_id: one, path: 'first', acquired_at: now, expires_at: ends(2) },
    { workspace_id: other, path: 'second', acquired_at: 3, expires_at: ends(30) },
    { workspace_id: other, path: 'over', acquired_at: 0, expires_at: now - 1 },
  );
  const page = await listFor({ scopes: ['locks:read'], workspaces: [one, other] });
  const pathsIn = (section: string) => {
    const [, part = ''] = new RegExp(`data-part="${section}">(.*?)</section>`, 's').exec(page) ?? [];
    return [...part.matchAll(/class="path"[^>]*title="([^"]*)"/g)].map(([, path]) => path);
  };
  expect(pathsIn('held-longest')).toEqual(['oldest', 'second', 'first']);
  expect(pathsIn('ending-soon')).toEqual(['first', 'second']);
  expect(page).not.toContain('Failing webhooks');
  expect(page).toContain('2 remotes have not answered yet.');
  expect(await listFor({ scopes: [], workspaces: [one] })).not.toContain('Held longest');
});

test('a workspace opens on its locks, or on its branches if the token may not see the locks', async () => {
  const workspace = await service.workspace();
  const opens = async (scope: Scope) => {
    const { status, headers } = await (await signedIn(service, { scopes: [scope] })).get(`/workspaces/${workspace}`);
    return [status, headers.get('location')];
  };
  expect(await opens('locks:read')).toEqual([303, `/workspaces/${workspace}/locks`]);
  expect(await opens('sync')).toEqual([303, `/workspaces/${workspace}/branches`]);
});

test('the start page does not wait for remotes, and shows their responses the next time', async () => {
  const workspace = await service.workspace('https://127.0.0.1:1/assets.git');
  const visitor = await signedIn(service, { workspaces: [workspace] });
  expect((await visitor.get('/')).text).toContain('asking');
  // Only the page has contacted the remote.
  await expect.poll(async () => (await visitor.get('/')).text, { timeout: 30_000 }).toContain('no answer');
});

const failure = { isBusy: false, reason: 'No.', askedAt: 200, answeredAt: 200 };

interface Past {
  readonly synced: Readonly<Record<string, string>>;
  readonly syncedAt?: number;
  readonly failure?: typeof failure;
}

test.each<[Past, ReturnType<typeof branchSummary>]>([
  [{ synced: { main: '0', release: '2' } }, { state: 'behind', text: '1 of 2 behind', more: '1 never synced' }],
  [{ synced: { main: '1', release: '2' } }, { state: 'current', text: 'all 2 up to date', more: '1 never synced' }],
  [{ synced: {} }, { state: 'unsynced', text: 'never synced', more: '3 branches' }],
  // A sync is not compared with an older response of the remote.
  [
    { synced: { main: '9', release: '2' }, syncedAt: 150 },
    { state: 'unknown', text: 'asking', more: '' },
  ],
  [
    { synced: { main: '1' }, failure },
    { state: 'silent', text: 'no answer', more: '1 branch synced' },
  ],
])('branches with %o are summarized as %o', ({ synced, syncedAt = 50, failure }, summary) => {
  const heads = Object.entries({ main: '1', release: '2', never: '3' });
  const branches = new Map(heads.map(([name, head]) => [branchNamed(name), head]));
  const listing = { branches, defaultBranch: undefined, askedAt: 100, answeredAt: 100 };
  const known = new Map(Object.entries(synced).map(([name, head]) => [name, { head, syncedAt }]));
  expect(branchSummary({ listing, failure }, known)).toEqual(summary);
});
