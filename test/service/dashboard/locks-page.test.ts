import { describe, expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { locksOf } from '../http/shared-service.ts';
import { signedIn, urlIn, type Visitor } from './browser-like.ts';
import { seedManyLocks, type TakenLock, takeLock } from './locked-service.ts';

const service = serviceOfTests();

const listOf = (workspace: string, search = '') => `/workspaces/${workspace}/locks${search}`;
const releaseOf = (workspace: string, { path, id }: TakenLock) =>
  `/workspaces/${workspace}/locks/release?${new URLSearchParams({ path, lock: id })}`;

/** The paths of the rows, in their order. */
const pathsIn = (page: string): string[] =>
  [...page.matchAll(/<a class="path" [^>]*title="([^"]*)"/g)].map(([, path = '']) => path);

const audited = async (lock: string) =>
  (await service.storage.read.selectFrom('audit').selectAll().where('action', '=', 'lock.force-released').execute())
    .map(({ detail, actor, address }) => ({ actor, address, detail: JSON.parse(detail) }))
    .filter(({ detail }) => detail.lock === lock);

const isHeld = async (workspace: string, { id }: TakenLock): Promise<boolean> =>
  (await service.storage.read.selectFrom('locks').select('id').where('workspace_id', '=', workspace).execute()).some(
    (lock) => lock.id === id,
  );

describe('the list of locks without JavaScript', () => {
  test('releases all locks of a page at once', async () => {
    const workspace = await service.workspace();
    const page = await signedIn(service, { owner: 'ada', scopes: ['locks:write'] });
    await storeLocks(
      service.storage,
      ...Array.from({ length: 101 }, (_, index) => ({ workspace_id: workspace, path: `a/${index}`, owner: 'ada' })),
    );
    const { text } = await page.get(listOf(workspace));
    const boxes = [...text.matchAll(/name="lock" value="([^"]+)"/g)];
    const lock = boxes.map(([, id = '']) => id);
    expect(lock).toHaveLength(100);
    const asked = await page.post(listOf(workspace, '/release-selected'), { lock });
    expect(asked.status).toBe(200);
    const shown = urlIn(asked.text, /name="lock" value="([^"]+)"/);
    const fields = { lock: shown, back: listOf(workspace) };
    const released = await page.post(listOf(workspace, '/release'), fields);
    expect(released.headers.get('location')).toBe(listOf(workspace, '?notice=released-all'));
    expect(pathsIn((await page.get(listOf(workspace))).text)).toHaveLength(1);
    const tooMany = { lock: Array.from({ length: 260 }, (_, index) => `lock_${index}`) };
    expect((await page.post(listOf(workspace, '/release-selected'), tooMany)).status).toBe(422);
  });

  test('searches and sorts all locks, with 100 on a page', async () => {
    const workspace = await service.workspace();
    await seedManyLocks(service, workspace, 250);
    const reader = await signedIn(service, { scopes: ['locks:read'] });
    const page = async (search = '') => (await reader.get(listOf(workspace, search))).text;
    const next = (text: string) => urlIn(text, /href="[^"?]*([^"]+)" rel="next"/);
    const all = await page();
    expect(pathsIn(all)).toHaveLength(100);
    expect(all).toContain('100 of 250 locks');
    for (const change of ['locks/release?', 'locks/extend?', 'locks/new', 'locks/ask'])
      expect(all).not.toContain(change);
    const last = 'Content/Level00/Asset00249.uasset';
    const third = await page(next(await page(next(all))));
    expect([pathsIn(third).length, pathsIn(third).at(-1), next(third)]).toEqual([50, last, '']);
    const found = await page('?search=TEAM-3+asset0020');
    expect(pathsIn(found)).toEqual(['Content/Level00/Asset00206.uasset']);
    expect(found).toContain('1 of 250 locks');
    expect(pathsIn(await page('?sort=-path'))[0]).toBe(last);
    const left = await page('?sort=left');
    expect(pathsIn(left)[0]).toBe('Content/Level00/Asset00000.uasset');
    expect(pathsIn(await page(next(left)))).toHaveLength(100);
    expect(pathsIn(await page('?holder=team-3'))).toHaveLength(36);
  });

  test('shows the lock on a linked path, and says what to do if there is none', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service);
    const shown = async (search: string) => {
      const { text } = await writer.get(listOf(workspace, search));
      const empty = ['Nothing is locked.', 'Nobody holds a lock on this path.', 'No lock matches the search.'];
      return [...pathsIn(text), ...empty.filter((words) => text.includes(words))];
    };
    expect(await shown('')).toEqual(['Nothing is locked.']);
    expect(await shown('?path=a/b')).toEqual(['Nobody holds a lock on this path.']);
    const lockIt = urlIn((await writer.get(listOf(workspace, '?path=a/b'))).text, /href="([^"]+)">Lock it/);
    expect((await writer.get(lockIt)).text).toContain('name="path" value="a/b"');
    for (const path of ['a/b', 'a/b/c', 'x']) await takeLock(service, workspace, writer.secret, path);
    expect(await shown('')).toEqual(['a/b', 'a/b/c', 'x']);
    expect(await shown('?path=a%2Fb')).toEqual(['a/b']);
    expect(await shown('?search=zebra')).toEqual(['No lock matches the search.']);
  });

  test('shows the notes of locks in the list and on the release page, and searches them', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service);
    const noted = await takeLock(service, workspace, writer.secret, 'noted', { note: 'Repainting <b>the hull</b>' });
    const bare = await takeLock(service, workspace, writer.secret, 'bare');
    const { text } = await writer.get(listOf(workspace));
    const shown = 'Repainting &lt;b&gt;the hull&lt;/b&gt;';
    expect(text).toContain(`<div class="note faint" title="${shown}"><bdi>${shown}</bdi></div>`);
    expect(pathsIn((await writer.get(listOf(workspace, '?search=HULL'))).text)).toEqual(['noted']);
    expect((await writer.get(releaseOf(workspace, noted))).text).toContain(`<dt>Note</dt><dd><bdi>${shown}</bdi></dd>`);
    expect((await writer.get(releaseOf(workspace, bare))).text).not.toContain('<dt>Note</dt>');
  });

  test('offers only the actions that the token may perform', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
    const admin = await signedIn(service, { name: 'ada', owner: 'root', scopes: ['locks:admin'] });
    const desk = await service.token({ name: 'desk', owner: 'ada' });
    await takeLock(service, workspace, writer.secret, 'one');
    await takeLock(service, workspace, admin.secret, 'two');
    await takeLock(service, workspace, desk.secret, 'three');
    const offered = async (visitor: Visitor) =>
      [...(await visitor.get(listOf(workspace))).text.matchAll(/href="[^"]+" aria-label="([^"]+)">/g)].map(
        ([, name]) => name,
      );
    expect(await offered(writer)).toEqual(['Extend one', 'Release one', 'Extend three', 'Release three', 'Ask two']);
    expect(await offered(admin)).toEqual([
      ...['one', 'three'].flatMap((path) => [`Ask ${path}`, `Force release ${path}`]),
      ...['Extend two', 'Release two'],
    ]);
  });
});

describe('releasing a lock', () => {
  test('requires a confirmation but no reason for one’s own lock, and leads back to the same list', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
    const { secret } = await service.token({ name: 'desk', owner: 'ada' });
    const lock = await takeLock(service, workspace, secret, 'Content/Hero.uasset');
    const referer = `${service.baseUrl}${listOf(workspace, '?search=hero&sort=-left')}`;
    const page = await writer.get(releaseOf(workspace, lock), { referer });
    expect(page.status).toBe(200);
    expect(page.text).toContain('Content/Hero.uasset');
    expect(page.text).not.toContain('name="reason"');
    for (const said of ['push your changes first', 'A job that is still running']) expect(page.text).toContain(said);
    const back = urlIn(page.text, /name="back" value="([^"]*)"/);
    const fields = { path: lock.path, lock: lock.id, back };
    const send = () => writer.post(`/workspaces/${workspace}/locks/release`, fields);
    expect((await send()).headers.get('location')).toBe(listOf(workspace, '?search=hero&sort=-left&notice=released'));
    expect(await isHeld(workspace, lock)).toBe(false);
    expect(await audited(lock.id)).toEqual([]);
    const again = await send();
    expect([again.status, again.text]).toEqual([404, expect.stringContaining('Nothing was released')]);
  });

  test('leads back only to the list, whatever the form contains', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { scopes: ['locks:write'] });
    const { path, id: lock } = await takeLock(service, workspace, writer.secret, 'a');
    const back = '//evil.example/?search=a&next=https://evil.example&notice=nonsense';
    const response = await writer.post(`/workspaces/${workspace}/locks/release`, { path, lock, back });
    const list = new RegExp(`^/workspaces/${workspace}/locks\\?[^/:]*notice=released$`);
    expect(response.headers.get('location')).toMatch(list);
  });

  test('requires locks:admin and an audited reason for a lock of another owner', async () => {
    const workspace = await service.workspace();
    const { secret } = await service.token({ name: 'release-bot' });
    const lock = await takeLock(service, workspace, secret, 'a');
    const release = (visitor: Visitor, reason = 'The runner is gone.') =>
      visitor.post(`/workspaces/${workspace}/locks/release`, { path: lock.path, lock: lock.id, reason });

    const writer = await signedIn(service, { scopes: ['locks:write'] });
    expect((await writer.get(releaseOf(workspace, lock))).status).toBe(403);
    expect((await release(writer)).status).toBe(403);
    expect(await isHeld(workspace, lock)).toBe(true);

    const admin = await signedIn(service, { name: 'grace', scopes: ['locks:admin'] });
    const { text } = await admin.get(releaseOf(workspace, lock));
    const run = 'https://ci.example.com/game/runs/7/attempts/1';
    for (const named of ['release-bot', run, 'Since', 'Until', 'name="reason"']) expect(text).toContain(named);
    for (const reason of ['  ', 'y'.repeat(501)]) {
      const refused = await release(admin, reason);
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('id="reason-problem" role="alert"');
      expect(refused.text).toContain(reason.trim());
    }
    expect(await isHeld(workspace, lock)).toBe(true);

    expect((await release(admin)).headers.get('location')).toBe(listOf(workspace, '?notice=released'));
    expect(await isHeld(workspace, lock)).toBe(false);
    const detail = expect.objectContaining({ path: 'a', owner: 'release-bot', reason: 'The runner is gone.' });
    expect(await audited(lock.id)).toEqual([{ actor: 'grace', address: '127.0.0.1', detail }]);
  });

  test('releases nothing if another lock is now on the path, and names its holder', async () => {
    const workspace = await service.workspace();
    const [first, second] = [await service.token({ name: 'first' }), await service.token({ name: 'second' })];
    const shown = await takeLock(service, workspace, first.secret, 'a');
    await locksOf(service, workspace, first.secret).release('a');
    const now = await takeLock(service, workspace, second.secret, 'a');
    const admin = await signedIn(service, { scopes: ['locks:admin'] });
    const send = (lock: string) =>
      admin.post(`/workspaces/${workspace}/locks/release`, { path: 'a', lock, reason: 'The runner is gone.' });
    for (const response of [await send(shown.id), await send(''), await admin.get(releaseOf(workspace, shown))]) {
      expect(response.status).toBe(412);
      expect(response.text).toContain('Nothing was released');
      expect(response.text).toContain('<bdi>second</bdi>');
      expect(response.text).toContain(`href="${listOf(workspace, '?path=a')}">Show the new lock</a>`);
    }
    expect(await isHeld(workspace, now)).toBe(true);
    expect(await audited(now.id)).toEqual([]);
  });

  test('says of several locks that they have ended, or that others hold them', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { scopes: ['locks:write'] });
    const { secret } = await service.token({ name: 'release-bot' });
    const taken = await Promise.all(['a', 'b'].map((path) => takeLock(service, workspace, secret, path)));
    const send = (action: string) => writer.post(listOf(workspace, action), { lock: taken.map(({ id }) => id) });
    const held = await send('/release-selected');
    expect([held.status, held.text]).toEqual([403, expect.stringContaining('Someone else holds these locks. Only')]);
    for (const path of ['a', 'b']) await locksOf(service, workspace, secret).release(path);
    for (const action of ['/release-selected', '/release']) {
      const { status, text } = await send(action);
      expect([status, text]).toEqual([404, expect.stringContaining('These locks no longer exist. Nothing was')]);
    }
  });

  test('does not say that it released locks that ended just before', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { scopes: ['locks:write'] });
    const { path, id: lock } = await takeLock(service, workspace, writer.secret, 'a');
    const { promise: otherPageShown, resolve } = Promise.withResolvers<unknown>();
    const ended = service.storage.commit({ workspace }, async (db) => {
      await db.deleteFrom('locks').where('id', '=', lock).execute();
      await otherPageShown;
    });
    const sent = writer.post(`/workspaces/${workspace}/locks/release`, { path, lock });
    // When this page is shown, the release has found the lock.
    resolve(await writer.get(listOf(workspace)));
    await ended;
    const { status, text } = await sent;
    expect([status, text]).toEqual([404, expect.stringContaining('Nothing was released.')]);
  });

  test('shows that the lock no longer exists, if there is none', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { scopes: ['locks:write'] });
    for (const search of ['', '?path=a', '?path=../etc&lock=x']) {
      const { status, text } = await writer.get(`/workspaces/${workspace}/locks/release${search}`);
      expect([search, status]).toEqual([search, 404]);
      expect(text).toContain('This lock no longer exists.');
    }
  });
});
