import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService, type TokenOptions } from '../../support/running-service.ts';
import { formTokenIn, type Visitor, visit } from './browser-like.ts';
import { hostileName, hostilePath, releaseAsApi, seedManyLocks, type TakenLock, takeLock } from './locked-service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
});
afterAll(() => service.stop());

async function signedIn(options: TokenOptions): Promise<Visitor & { readonly secret: string; readonly id: string }> {
  const token = await service.token(options);
  const visitor = visit(service);
  expect((await visitor.signIn(token.secret)).status).toBe(303);
  return { ...visitor, ...token };
}

const listOf = (workspace: string, search = '') => `/workspaces/${workspace}/locks${search}`;
const releaseOf = (workspace: string, { path, id }: TakenLock) =>
  `/workspaces/${workspace}/locks/release?${new URLSearchParams({ path, lock: id })}`;

/** The paths of the rows, as they follow each other. */
const pathsIn = (page: string): string[] =>
  [...page.replace(/<template.*?<\/template>/gs, '').matchAll(/<a class="path" [^>]*title="([^"]*)"/g)].map(
    ([, path = '']) => path,
  );

const audited = async (lock: string) =>
  (await service.storage.read.selectFrom('audit').selectAll().where('action', '=', 'lock.force-released').execute())
    .map(({ detail, actor, address }) => ({ actor, address, detail: JSON.parse(detail) }))
    .filter(({ detail }) => detail.lock === lock);

const isHeld = async (workspace: string, { id }: TakenLock): Promise<boolean> =>
  (await service.storage.read.selectFrom('locks').select('id').where('workspace_id', '=', workspace).execute()).some(
    (lock) => lock.id === id,
  );

describe('the list of locks, without JavaScript,', () => {
  test('searches, sorts and groups all locks, 200 on a page', async () => {
    const workspace = await service.workspace();
    await seedManyLocks(service, workspace, 450);
    const reader = await signedIn({ scopes: ['locks:read'] });
    const page = async (search = '') => (await reader.get(listOf(workspace, search))).text;
    const all = await page();
    expect(pathsIn(all)).toHaveLength(200);
    expect(all).toContain('450 locks');
    expect(all).toContain('Page 1 of 3');
    expect(pathsIn(await page('?page=3')).at(-1)).toBe('Content/Level00/Asset00449.uasset');
    expect(pathsIn(await page('?page=99'))).toHaveLength(50);
    const found = await page('?search=TEAM-3+asset0044');
    expect(pathsIn(found)).toEqual(['Content/Level00/Asset00444.uasset']);
    expect(found).toContain('1 of 450 locks');
    expect(pathsIn(await page('?sort=since'))[0]).toBe('Content/Level00/Asset00449.uasset');
    expect(pathsIn(await page('?sort=-path'))[0]).toBe('Content/Level00/Asset00449.uasset');
    const grouped = await page('?group=folder');
    expect(grouped.match(/<tr role="row" class="folder-row">/g)).toHaveLength(2);
    expect(grouped).toContain('450 locks</span>');
    expect(all).not.toContain('locks/release?');
  });

  test('says what to do where there is nothing to show', async () => {
    const workspace = await service.workspace();
    const reader = await signedIn({ scopes: ['locks:read'] });
    const shown = async (search: string) =>
      [...(await reader.get(listOf(workspace, search))).text.matchAll(/data-empty="([\w-]+)">/g)].map(
        ([, name]) => name,
      );
    expect(await shown('')).toEqual(['none']);
    expect(await shown('?path=a/b')).toEqual(['free']);
    const { secret } = await service.token();
    await takeLock(service, workspace, secret, 'a/b');
    expect(await shown('')).toEqual([]);
    expect(await shown('?path=a/b')).toEqual([]);
    expect(await shown('?search=zebra')).toEqual(['no-match']);
  });

  test('shows the lock on one path to whoever follows a link to it', async () => {
    const workspace = await service.workspace();
    const { secret } = await service.token();
    for (const path of ['a/b', 'a/b/c', 'x']) await takeLock(service, workspace, secret, path);
    const reader = await signedIn({ scopes: ['locks:read'] });
    expect(pathsIn((await reader.get(listOf(workspace, '?path=a%2Fb'))).text)).toEqual(['a/b']);
  });

  test('offers what the token may do, and nothing else', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn({ scopes: ['locks:write'] });
    const admin = await signedIn({ scopes: ['locks:admin'] });
    const own = await takeLock(service, workspace, writer.secret, 'own');
    const other = await takeLock(service, workspace, admin.secret, 'other');
    const offered = async (visitor: Visitor) =>
      [...(await visitor.get(listOf(workspace))).text.matchAll(/aria-label="([^"]+)">(?:Release|Force release)</g)].map(
        ([, name]) => name,
      );
    expect(await offered(writer)).toEqual([`Release ${own.path}`]);
    expect(await offered(admin)).toEqual(
      [`Release ${other.path}`, `Force release ${own.path}`].toSorted().toReversed(),
    );
  });

  test('has no markup from a path, a holder or a run', async () => {
    const workspace = await service.workspace();
    const { secret } = await service.token({ name: hostileName });
    await takeLock(service, workspace, secret, hostilePath, {
      origin: 'https://evil.example/"><script>alert(1)</script>',
    });
    const admin = await signedIn({ scopes: ['locks:admin'] });
    const list = (await admin.get(listOf(workspace))).text;
    const [, href = ''] = /class="button release danger" href="([^"]+)"/.exec(list) ?? [];
    const confirm = (await admin.get(href.replaceAll('&amp;', '&'))).text;
    for (const page of [
      list,
      confirm,
      (await admin.get(listOf(workspace, `?search=${encodeURIComponent(hostileName)}`))).text,
    ]) {
      expect(page).toContain('&lt;script&gt;alert(1)');
      expect(page).toContain('\\u{202e}');
      expect(page.replace(/value="[^"]*"/g, '')).not.toContain('\u202E');
      expect(page).not.toContain('<img src=x');
      expect(page).not.toContain('<script>alert');
    }
  });
});

describe('releasing a lock', () => {
  test('of one’s own takes a confirmation and no reason, and leads back to the list as it was', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn({ scopes: ['locks:write'] });
    const lock = await takeLock(service, workspace, writer.secret, 'Content/Hero.uasset');
    const referer = `${service.baseUrl}${listOf(workspace, '?search=hero&sort=-left')}`;
    const page = await writer.get(releaseOf(workspace, lock), { referer });
    expect(page.status).toBe(200);
    expect(page.text).toContain('Content/Hero.uasset');
    expect(page.text).toContain('https://ci.example.com/game/runs/7/attempts/1');
    expect(page.text).not.toContain('name="reason"');
    const back = /name="back" value="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const form_token = formTokenIn(page.text);
    const fields = { form_token, path: lock.path, lock: lock.id, back };
    const answer = await writer.post(`/workspaces/${workspace}/locks/release`, fields);
    expect(answer.headers.get('location')).toBe(listOf(workspace, '?search=hero&sort=-left&notice=released'));
    expect(await isHeld(workspace, lock)).toBe(false);
    expect(await audited(lock.id)).toEqual([]);
    const again = await writer.post(`/workspaces/${workspace}/locks/release`, fields);
    expect(again.headers.get('location')).toContain('notice=absent');
    expect((await writer.get(again.headers.get('location') ?? '')).text).toContain('Nothing was released');
  });

  test('leads back to the list alone, whatever is sent along', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn({ scopes: ['locks:write'] });
    const { path, id: lock } = await takeLock(service, workspace, writer.secret, 'a');
    const back = '//evil.example/?search=a&next=https://evil.example&notice=nonsense';
    const answer = await writer.submit('/', `/workspaces/${workspace}/locks/release`, { path, lock, back });
    expect(answer.headers.get('location')).toMatch(
      new RegExp(`^/workspaces/${workspace}/locks\\?[^/:]*notice=released$`),
    );
  });

  test('of somebody else takes locks:admin and a reason, which the audit keeps', async () => {
    const workspace = await service.workspace();
    const { secret } = await service.token({ name: 'release-bot' });
    const lock = await takeLock(service, workspace, secret, 'a');
    const fields = { path: lock.path, lock: lock.id, reason: 'The runner is gone.' };
    const release = (visitor: Visitor, more: Readonly<Record<string, string>> = {}) =>
      visitor.submit('/', `/workspaces/${workspace}/locks/release`, { ...fields, ...more });

    const writer = await signedIn({ scopes: ['locks:write'] });
    expect((await writer.get(releaseOf(workspace, lock))).status).toBe(403);
    expect((await release(writer)).status).toBe(403);
    expect(await isHeld(workspace, lock)).toBe(true);

    const admin = await signedIn({ name: 'grace', scopes: ['locks:admin'] });
    const page = await admin.get(releaseOf(workspace, lock));
    for (const named of [
      'release-bot',
      'https://ci.example.com/game/runs/7/attempts/1',
      'Since',
      'Until',
      'name="reason"',
    ]) {
      expect(page.text).toContain(named);
    }
    const silent = await release(admin, { reason: '  ' });
    expect(silent.status).toBe(422);
    expect(silent.text).toContain('id="reason-problem" role="alert"');
    const long = await release(admin, { reason: 'y'.repeat(501) });
    expect(long.status).toBe(422);
    expect(long.text).toContain('y'.repeat(501));
    expect(await isHeld(workspace, lock)).toBe(true);

    expect((await release(admin)).headers.get('location')).toBe(listOf(workspace, '?notice=released'));
    expect(await isHeld(workspace, lock)).toBe(false);
    expect(await audited(lock.id)).toEqual([
      {
        actor: 'grace',
        address: '127.0.0.1',
        detail: expect.objectContaining({ path: 'a', owner: 'release-bot', reason: 'The runner is gone.' }),
      },
    ]);
  });

  test('releases nothing when another lock is there by then, and says who holds it', async () => {
    const workspace = await service.workspace();
    const [first, second] = [await service.token({ name: 'first' }), await service.token({ name: 'second' })];
    const shown = await takeLock(service, workspace, first.secret, 'a');
    await releaseAsApi(service, workspace, first.secret, 'a');
    const now = await takeLock(service, workspace, second.secret, 'a');
    const admin = await signedIn({ scopes: ['locks:admin'] });
    const fields = { path: 'a', lock: shown.id, reason: 'The runner is gone.' };
    for (const answer of [
      await admin.submit('/', `/workspaces/${workspace}/locks/release`, fields),
      await admin.submit('/', `/workspaces/${workspace}/locks/release`, { ...fields, lock: '' }),
      await admin.get(releaseOf(workspace, shown)),
    ]) {
      expect(answer.status).toBe(412);
      expect(answer.text).toContain('Nothing was released');
      expect(answer.text).toContain('<bdi>second</bdi>');
    }
    expect(await isHeld(workspace, now)).toBe(true);
    expect(await audited(now.id)).toEqual([]);
  });

  test.each(['', '?path=a', '?path=../etc&lock=x'])(
    'of what is not there is a page that says so: %s',
    async (search) => {
      const workspace = await service.workspace();
      const writer = await signedIn({ scopes: ['locks:write'] });
      const answer = await writer.get(`/workspaces/${workspace}/locks/release${search}`);
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('This lock no longer exists.');
    },
  );
});
