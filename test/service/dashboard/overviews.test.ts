import { beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import { relativeTime } from '../../../src/service/dashboard/assets/time.js';
import { joinLine } from '../../../src/service/locks/waits.ts';
import type { TokenOptions } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storePool } from '../../support/stored-pool.ts';
import { storeSyncs } from '../../support/stored-rows.ts';
import { waitRequest } from '../../support/waits.ts';
import { type SignedIn, signedIn } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

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
    return { sync: page.includes(`/workspaces/${workspace}/syncs`) };
  };
  expect(await seen('sync')).toEqual({ sync: true });
  expect(await seen('locks:write')).toEqual({ sync: false });
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

/** The names of the actions in each row. */
const offered = (page: string) =>
  [...page.matchAll(/aria-label="((?:Extend|Release) [^"]*)"/g)].map(([, name]) => name);

test('My locks lists the locks of the owner in all visible workspaces, with the allowed actions', async () => {
  const [film, game] = [await service.workspace(), await service.workspace()].sort();
  const limited = { name: 'laptop', owner: 'grace', workspaces: [film ?? ''] };
  const desk = await service.token({ name: 'desk', owner: 'grace' });
  await takeLock(service, film ?? '', desk.secret, 'b', { note: 'Final cut', origin: '' });
  await takeLock(service, game ?? '', desk.secret, 'a');
  await takeLock(service, game ?? '', (await service.token({ owner: 'Grace' })).secret, 'c');
  const all = await signedIn(service, { name: 'desk', owner: 'grace', scopes: ['locks:write'] });
  const { text } = await all.get('/my-locks');
  expect(offered(text)).toEqual(['Extend b', 'Release b', 'Extend a', 'Release a']);
  for (const part of ['Final cut', `<a href="/workspaces/${game}/locks">`, '<bdi>grace</bdi>'])
    expect(text).toContain(part);
  const runs = [...text.matchAll(/data-label="From run">(?:<[^>]*>)*([^<]*)/g)].map(([, run]) => run);
  expect(runs).toEqual(['by hand', 'ci.example.com/game/runs/7/attempts/1']);
  expect((await all.get('/')).text).toContain('href="/my-locks"');
  const some = await signedIn(service, { ...limited, scopes: ['locks:write'] });
  expect(offered((await some.get('/my-locks')).text)).toEqual(['Extend b', 'Release b']);
  const reader = await signedIn(service, { ...limited, scopes: ['locks:read'] });
  const read = (await reader.get('/my-locks')).text;
  expect([offered(read), read.includes('>b</bdi>')]).toEqual([[], true]);
  const nobody = await signedIn(service, { name: 'nobody', scopes: ['locks:read'] });
  expect((await nobody.get('/my-locks')).text).toContain('You hold no locks.');
  expect((await (await signedIn(service, { scopes: ['sync'] })).get('/')).text).not.toContain('/my-locks');
});

/** Stores waits in line that do not end during the test. */
const storeWaiting = (workspace: string, path: string, ...owners: readonly string[]) =>
  service.storage.commit({ workspace }, (db) =>
    joinLine(
      db,
      owners.map((owner) =>
        waitRequest(`${workspace} ${owner}`, { workspace, owner, paths: [path], presentMs: 3_600_000 }),
      ),
    ),
  );

test('the page of a pool shows who holds each seat, and links to the free ones', async () => {
  const workspace = await service.workspace();
  await storePool(service.storage, workspace, 'unity-pro', 'seats/1', 'host=b1,secret:serial=s3cret', 'seats/2');
  const ada = await signedIn(service, { name: 'ada', scopes: ['locks:write'] });
  await takeLock(service, workspace, ada.secret, 'seats/1', { note: 'License server is being moved' });
  expect((await ada.get(`/workspaces/${workspace}/locks`)).text).toContain(`href="/workspaces/${workspace}/pools"`);
  const { text: pools } = await ada.get(`/workspaces/${workspace}/pools`);
  expect(pools).toContain('<bdi>unity-pro</bdi> <span class="faint">1 of 2 free</span>');
  await storeWaiting(workspace, 'seats/1', 'bo', 'cy', 'di', 'ed');
  const { text } = await ada.get(`/workspaces/${workspace}/pools`);
  const [, first = '', second = ''] = text.split('<th scope="row">');
  for (const part of [
    'seats%2F1',
    'host=b1',
    'serial (secret)',
    '<bdi>ada</bdi>',
    'License server is being moved',
    'runs/7',
  ])
    expect(first).toContain(part);
  expect(first).not.toContain('Lock it');
  expect(first).toContain('4 waiting');
  expect(second).not.toContain('waiting');
  expect(second).toContain(`href="/workspaces/${workspace}/locks/new?path=seats%2F2"`);
  // Not even to the holder: a page may be seen by others.
  expect(text).not.toContain('s3cret');
  const reader = await signedIn(service, { scopes: ['locks:read'] });
  expect((await reader.get(`/workspaces/${workspace}/pools`)).text).not.toContain('Lock it');
  expect((await ada.get(`/workspaces/${await service.workspace()}/pools`)).text).toContain('has no pools.');
});

interface Past {
  readonly index: number;
  readonly error?: string;
  readonly lfs?: object;
}

describe('the sync history', () => {
  let visitor: SignedIn;
  let workspace: string;
  beforeAll(async () => {
    visitor = await signedIn(service, { scopes: ['sync'] });
    workspace = await service.workspace();
  });

  const idOf = (index: number): string => `sync_00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;

  const insert = (syncs: readonly Past[], where = workspace) =>
    storeSyncs(
      service.storage,
      ...syncs.map(({ index, error = null, lfs = {} }) => ({
        id: idOf(index),
        workspace_id: where,
        branch: 'main',
        status: error === null ? ('succeeded' as const) : ('failed' as const),
        received_objects: 1_234,
        head: error === null ? 'c0ffee' : null,
        error,
        created_at: index * 1_000,
        started_at: index * 1_000,
        finished_at: index * 1_000 + 65_000,
        requested_by: 'ada',
        ...lfs,
      })),
    );

  /** The times of the syncs on a page, which are their numbers. */
  const listed = (page: string): readonly number[] =>
    [...page.matchAll(/data-label="Requested"><time datetime="([^"]+)"/g)].map(([, at = '']) => Date.parse(at) / 1_000);
  const show = async (path: string, where = workspace) => (await visitor.get(`/workspaces/${where}/syncs${path}`)).text;

  test('says what to do if nothing has been synced yet', async () => {
    const page = await show('', await service.workspace());
    expect(page).toContain('Nothing has been synced yet.');
    expect(page).toContain('operation: sync');
  });

  test('lists the last 100, newest first', async () => {
    await insert(Array.from({ length: 120 }, (_, index) => ({ index })));
    expect(listed(await show(''))).toEqual(Array.from({ length: 100 }, (_, index) => 119 - index));
  });

  test('shows results, errors, and the LFS objects that could not be fetched', async () => {
    const other = await service.workspace();
    const missing = [{ path: '<b>\u202Ehero', oid: 'a'.repeat(64), size: 1, detail: 'The store does not have it.' }];
    const lfs = {
      received_bytes: 1_500_000,
      total_bytes: 2_000_000,
      missing_objects: 12,
      missing: JSON.stringify(missing),
    };
    await insert([{ index: 700 }, { index: 701, error: '\u202Ea\nb' }], other);
    await insert([{ index: 702, lfs }], other);
    const page = await show('', other);
    expect(page).toMatch(/succeeded.*65 s.*1,234.*c0ffee.*<bdi>ada</s);
    expect(page).toContain('\\u{202e}a\nb</pre>');
    expect(page).toContain('1,234, 1.5 MB of LFS');
    expect(page).toContain('12 LFS objects could not be fetched. The next sync retries them.');
    expect(page).toContain('&lt;b&gt;\\u{202e}hero: The store does not have it.');
    expect(page).toContain('And 11 others.');
  });
});

test.each([
  [1, 'now'],
  [89, '89 s ago'],
  [90, '2 min ago'],
  [7_199, '120 min ago'],
  [7_200, '2 h ago'],
  [172_800, '2 d ago'],
  [-95, 'in 2 min'],
])('a time %d s ago is shown as %s', (seconds, text) => {
  expect(relativeTime(0, seconds * 1_000)).toBe(text);
});
