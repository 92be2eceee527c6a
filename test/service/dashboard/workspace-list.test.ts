import { expect, test } from 'vitest';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import type { TokenOptions } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeLocks, storeSyncs } from '../../support/stored-rows.ts';
import { pathsIn, signedIn } from './browser-like.ts';

const service = serviceOfTests();
const listFor = async (options: TokenOptions) => (await (await signedIn(service, options)).get('/')).text;

test('the start page says what to do if there are no workspaces, or if the token sees none', async () => {
  const forAdministrators = await listFor({});
  expect(forAdministrators).toContain('workspace-service workspace add');
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
      sync: page.includes(`/workspaces/${workspace}/syncs`),
      locks: page.includes(`/workspaces/${workspace}/locks`),
    };
  };
  expect(await seen()).toEqual({ sync: false, locks: false });
  expect(await seen('sync')).toEqual({ sync: true, locks: false });
  expect(await seen('locks:write')).toEqual({ sync: false, locks: true });
});

test('the start page shows locks of the viewer that were taken by hand and end soon, and no others', async () => {
  const [one, hidden] = [await service.workspace(), await service.workspace()];
  const now = Date.now();
  const ends = (minutes: number) => now + minutes * 60_000;
  const own = { workspace_id: one, owner: 'ada' };
  await storeLocks(
    service.storage,
    { ...own, path: 'second', expires_at: ends(8) },
    { ...own, path: 'first', expires_at: ends(2) },
    { ...own, path: 'later', expires_at: ends(60) },
    { ...own, path: 'over', expires_at: now - 1 },
    { ...own, path: 'of a job', expires_at: ends(2), origin: 'https://ci.example.com/runs/1' },
    { ...own, workspace_id: hidden, path: 'hidden', expires_at: ends(1) },
    { ...own, path: 'of another', owner: 'bo', expires_at: ends(1) },
  );
  const page = await listFor({ owner: 'ada', scopes: ['locks:write'], workspaces: [one] });
  expect(pathsIn(page)).toEqual(['first', 'second']);
  expect(page).toContain('Your locks that end soon');
  for (const absent of ['Failing webhooks', 'wait for']) expect(page).not.toContain(absent);
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
