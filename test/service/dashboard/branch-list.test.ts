import { expect, test } from 'vitest';
import type { Scope } from '../../../src/interface/scopes.ts';
import { recordUsage } from '../../../src/service/lfs/usage.ts';
import { createRepository, type Repository } from '../../support/git-repository.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { signedIn, type Visitor } from './browser-like.ts';
import { expectHarmless } from './hostile.ts';

const service = serviceOfTests();

async function workspaceWith(...branches: readonly string[]): Promise<{ workspace: string; remote: Repository }> {
  const remote = createRepository(temporaryFolder(), 'remote.git');
  remote.commit({ branch: 'main', files: { a: '1' } });
  if (branches.length > 0) {
    remote.commit(...branches.map((branch) => ({ branch, from: 'main', files: { b: branch } })));
  }
  return { remote, workspace: await service.workspace(remote.path) };
}

const visitorWith = (...scopes: readonly Scope[]) => signedIn(service, { scopes });

const synced = (workspace: string, name: string, head: string) =>
  service.storage.commit('global', (db) =>
    db
      .insertInto('synced_branches')
      .values({ workspace_id: workspace, name, head, synced_at: 1, received_objects: 1 })
      .execute(),
  );

/** The page after the remote has answered. On a busy machine that may take longer than the page waits. */
async function pageOf(visitor: Visitor, workspace: string, query = ''): Promise<string> {
  await visitor.get(`/workspaces/${workspace}/summary?awaited=true`);
  return (await visitor.get(`/workspaces/${workspace}/branches${query}`)).text;
}

const rowsOf = (page: string): readonly string[] =>
  [...page.matchAll(/<tr>\s*<th scope="row">.*?<\/tr>/gs)].map(([row]) => row);
const namesIn = (page: string): readonly string[] =>
  rowsOf(page).map((row) => /<bdi>(.*?)<\/bdi>/s.exec(row)?.[1] ?? '');

test('each branch is shown with its state, and the default branch first', async () => {
  const { workspace, remote } = await workspaceWith('a-branch', 'old');
  await synced(workspace, 'main', remote.head('main'));
  await synced(workspace, 'old', '1'.repeat(40));
  const page = await pageOf(await visitorWith(), workspace);
  expect(namesIn(page)).toEqual(['main', 'a-branch', 'old']);
  const [main = '', fresh = '', old = ''] = rowsOf(page);
  expect(main).toMatch(/default.*up to date/s);
  expect(fresh).toContain('never synced');
  expect(old).toMatch(new RegExp(`behind.*title="${remote.head('old')}".*title="1{40}"`, 's'));
});

test('a sync is offered only with the scope for it, and shows the name of the token that started it', async () => {
  const { workspace, remote } = await workspaceWith();
  expect(await pageOf(await visitorWith('locks:admin'), workspace)).not.toMatch(/<button>Sync|\/syncs"/);
  const visitor = await visitorWith('sync');
  expect(await pageOf(visitor, workspace)).toMatch(/<button>Sync/);
  const started = await visitor.post(`/workspaces/${workspace}/sync`, {
    branch: 'main',
  });
  expect(started.status).toBe(303);
  const address = started.headers.get('location') ?? '';
  expect(address).toMatch(new RegExp(`^/workspaces/${workspace}/syncs/sync_`));
  await expect.poll(async () => (await visitor.get(address)).text, { timeout: 30_000 }).toContain(remote.head('main'));
  expect((await visitor.get(address)).text).toContain('by <bdi>ada</bdi>');
});

test('a branch that cannot be synced is rejected at its field, and the entered name is kept', async () => {
  const { workspace } = await workspaceWith();
  const visitor = await visitorWith('sync');
  const refused: readonly (readonly [branch: string, reason: RegExp])[] = [
    ['mian', /value="mian".*The remote has no branch mian\. It has main\./s],
    ['a..b', /must not have two dots in a row/],
    ['', /must not be empty/],
    ['"><img/src=x/onerror=alert(1)>', /The remote has no branch/],
    ['exe\u202Efdp', /The remote has no branch exe\\u\{202e\}fdp/],
  ];
  for (const [branch, reason] of refused) {
    const { status, text } = await visitor.post(`/workspaces/${workspace}/sync`, { branch });
    expect([branch, status]).toEqual([branch, 422]);
    expect(text).toMatch(reason);
    expect(text).toMatch(/<input id="branch"[^>]*aria-invalid="true"/);
    expectHarmless(text);
    expect(text).not.toContain('<img/');
  }
  const { read } = service.storage;
  expect(await read.selectFrom('syncs').select('id').where('workspace_id', '=', workspace).execute()).toEqual([]);
});

test('unusual branch names of a remote are sent back unchanged', async () => {
  const hostile = [
    '<script>alert(1)</script>',
    '"><b>x</b>',
    "it's&amp;",
    'exe\u202Efdp',
    'a\u200Bb\u00a0',
    `x${'y'.repeat(200)}`,
  ];
  const { workspace } = await workspaceWith(...hostile);
  const visitor = await visitorWith('sync');
  const page = await pageOf(visitor, workspace);
  expect(rowsOf(page)).toHaveLength(hostile.length + 1);
  for (const branch of hostile) {
    expect((await visitor.post(`/workspaces/${workspace}/sync`, { branch })).status).toBe(303);
    const history = await visitor.get(`/workspaces/${workspace}/syncs?branch=${encodeURIComponent(branch)}`);
    expect(history.text.match(/<th scope="row">/g)).toHaveLength(1);
  }
});

test('hundreds of branches are filtered and paged, and each is on exactly one page', async () => {
  const many = Array.from({ length: 450 }, (_, index) => `feature/${String(index).padStart(3, '0')}`);
  const { workspace, remote } = await workspaceWith(...many);
  await synced(workspace, 'feature/007', remote.head('feature/007'));
  const visitor = await visitorWith('sync');
  const pages = [];
  for (const page of [1, 2, 3]) pages.push(...namesIn(await pageOf(visitor, workspace, `?page=${page}`)));
  expect(pages).toEqual(['main', ...many]);
  expect(namesIn(await pageOf(visitor, workspace, '?search=URE%2F44'))).toEqual(many.slice(440));
  expect(namesIn(await pageOf(visitor, workspace, '?show=current'))).toEqual(['feature/007']);
  expect(await pageOf(visitor, workspace, '?search=nothing')).toContain('No branch matches.');
  for (const wrong of ['?page=0', '?page=-3', '?page=x', '?show=constructor']) {
    expect(namesIn(await pageOf(visitor, workspace, wrong))).toHaveLength(200);
  }
});

test('a workspace shows the size of its LFS objects, and warns if its branches need more than the limit', async () => {
  const workspace = await service.workspace('https://127.0.0.1:1/assets.git', { lfs_limit: 2e9 });
  const visitor = await visitorWith('sync');
  const page = async (neededBytes: number | null) => {
    await recordUsage(service.storage, workspace, { usage: { objects: 1_204, bytes: 2_345_678_901 }, neededBytes });
    return pageOf(visitor, workspace);
  };
  const fits = await page(null);
  expect(fits).toContain('1,204 LFS objects, 2.35 GB of at most 2 GB · 1000 TB of 1000 TB free on the disk');
  expect(fits).not.toContain('do not fit');
  expect(await page(1_999_999_999)).not.toContain('do not fit');
  expect(await page(2_100_000_000)).toMatch(/do not fit.*need 2\.1 GB of at most 2 GB/s);
});

test('a remote that does not answer does not hide the synced branches', async () => {
  const workspace = await service.workspace('https://127.0.0.1:1/assets.git');
  await synced(workspace, 'main', '1'.repeat(40));
  const page = await pageOf(await visitorWith('sync'), workspace);
  expect(page).toContain('The remote did not answer.');
  expect(namesIn(page)).toEqual(['main']);
  expect(page).toContain('Sync a branch by name');
});
