import { expect, test } from 'vitest';
import type { Scope } from '../../../src/interface/scopes.ts';
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

test('the start page shows the oldest locks, and locks that expire soon, if visible', async () => {
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
    const [, part = ''] = new RegExp(`aria-labelledby="${section}">(.*?)</section>`, 's').exec(page) ?? [];
    return [...part.matchAll(/class="path"[^>]*title="([^"]*)"/g)].map(([, path]) => path);
  };
  expect(pathsIn('held-longest')).toEqual(['oldest', 'second', 'first']);
  expect(pathsIn('ending-soon')).toEqual(['first', 'second']);
  expect(page).not.toContain('Failing webhooks');
  expect(await listFor({ scopes: [], workspaces: [one] })).not.toContain('Held longest');
});

test('a workspace opens on its locks, or on its syncs if the token may not see the locks', async () => {
  const workspace = await service.workspace();
  const opens = async (scope: Scope) => {
    const { status, headers } = await (await signedIn(service, { scopes: [scope] })).get(`/workspaces/${workspace}`);
    return [status, headers.get('location')];
  };
  expect(await opens('locks:read')).toEqual([303, `/workspaces/${workspace}/locks`]);
  expect(await opens('sync')).toEqual([303, `/workspaces/${workspace}/syncs`]);
});
