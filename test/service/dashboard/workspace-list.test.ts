import { expect, test } from 'vitest';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import type { TokenOptions } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeSyncs } from '../../support/stored-rows.ts';
import { signedIn } from './browser-like.ts';

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

test('a workspace opens on its locks, or on its syncs if the token may not see the locks', async () => {
  const workspace = await service.workspace();
  const opens = async (scope: Scope) => {
    const { status, headers } = await (await signedIn(service, { scopes: [scope] })).get(`/workspaces/${workspace}`);
    return [status, headers.get('location')];
  };
  expect(await opens('locks:read')).toEqual([303, `/workspaces/${workspace}/locks`]);
  expect(await opens('sync')).toEqual([303, `/workspaces/${workspace}/syncs`]);
});
