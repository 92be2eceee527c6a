import { describe, expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { findRows } from '../../support/stored-rows.ts';
import { locksOf } from '../http/shared-service.ts';
import { pathsIn, signedIn, urlIn, type Visitor } from './browser-like.ts';
import { seedManyLocks, type TakenLock, takeLock } from './locked-service.ts';

const service = serviceOfTests();

const listOf = (workspace: string, search = '') => `/workspaces/${workspace}/locks${search}`;
const releaseOf = (workspace: string, ...locks: readonly string[]) =>
  listOf(workspace, `/release?${locks.map((lock) => `lock=${encodeURIComponent(lock)}`).join('&')}`);

const audited = async (lock: string) =>
  (await findRows(service.storage, 'audit', { action: 'lock.force-released' }))
    .map(({ detail, actor, address }) => ({ actor, address, detail: JSON.parse(detail) }))
    .filter(({ detail }) => detail.lock === lock);

const isHeld = async (workspace: string, { id }: TakenLock): Promise<boolean> =>
  (await findRows(service.storage, 'locks', { workspace_id: workspace, id })).length === 1;

describe('the list of locks', () => {
  test('searches all locks, with 100 on a page', async () => {
    const workspace = await service.workspace();
    await seedManyLocks(service, workspace, 250);
    const reader = await signedIn(service, { scopes: ['locks:read'] });
    const page = async (search = '') => (await reader.get(listOf(workspace, search))).text;
    const next = (text: string) => urlIn(text, /href="[^"?]*([^"]+)" rel="next"/);
    const all = await page();
    expect(pathsIn(all)).toHaveLength(100);
    for (const change of ['locks/release', 'locks/new', '>Ask<', '>Extend<']) expect(all).not.toContain(change);
    const last = 'Content/Level00/Asset00249.uasset';
    const third = await page(next(await page(next(all))));
    expect([pathsIn(third).length, pathsIn(third).at(-1), next(third)]).toEqual([50, last, '']);
    const found = await page('?search=TEAM-3+asset0020');
    expect(pathsIn(found)).toEqual(['Content/Level00/Asset00206.uasset']);
    expect(pathsIn(await page('?search=%00&after=%00'))).toHaveLength(100);
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

describe('releasing locks', () => {
  const send = (visitor: Visitor, workspace: string, locks: readonly TakenLock[], reason = '') =>
    visitor.post(listOf(workspace, '/release'), { lock: locks.map(({ id }) => id).join(' '), reason });

  test('requires a confirmation but no reason for one’s own lock', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
    const { secret } = await service.token({ name: 'desk', owner: 'ada' });
    const lock = await takeLock(service, workspace, secret, 'Content/Hero.uasset', { note: 'For <b>' });
    const list = (await writer.get(listOf(workspace))).text;
    const page = await writer.get(urlIn(list, /href="([^"]+)" aria-label="Release /));
    for (const said of ['>Hero.uasset</bdi>', '<bdi>For &lt;b&gt;', 'push your changes first'])
      expect(page.text).toContain(said);
    expect(page.text).toContain('A job that is still running');
    expect(page.text).not.toContain('name="reason"');
    const { headers } = await send(writer, workspace, [lock]);
    expect(headers.get('location')).toBe(listOf(workspace, '?notice=released'));
    const after = (await writer.get(headers.get('location') ?? '')).text;
    expect(after).toContain('The selected locks were released.');
    expect(await isHeld(workspace, lock)).toBe(false);
    expect(await audited(lock.id)).toEqual([]);
    const again = await writer.get((await send(writer, workspace, [lock])).headers.get('location') ?? '');
    expect(again.text).toContain('Nothing was released');
  });

  test('requires locks:admin and an audited reason for a lock of another owner', async () => {
    const workspace = await service.workspace();
    const { secret } = await service.token({ name: 'release-bot' });
    const lock = await takeLock(service, workspace, secret, 'a');
    const writer = await signedIn(service, { scopes: ['locks:write'] });
    expect((await writer.get(releaseOf(workspace, lock.id))).status).toBe(403);
    expect((await send(writer, workspace, [lock], 'Mine.')).status).toBe(403);
    expect(await isHeld(workspace, lock)).toBe(true);

    const admin = await signedIn(service, { name: 'grace', scopes: ['locks:admin'] });
    const { text } = await admin.get(releaseOf(workspace, lock.id));
    const run = 'https://ci.example.com/game/runs/7/attempts/1';
    for (const named of ['release-bot', run, 'Since', 'Until', 'name="reason"']) expect(text).toContain(named);
    for (const reason of ['  ', 'y'.repeat(501)]) {
      const refused = await send(admin, workspace, [lock], reason);
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('id="reason-problem"');
      expect(refused.text).toContain('role="alert">Nothing was changed. reason: ');
      expect(refused.text).toContain(reason.trim());
    }
    expect(await isHeld(workspace, lock)).toBe(true);

    expect((await send(admin, workspace, [lock], 'The runner is gone.')).status).toBe(303);
    expect(await isHeld(workspace, lock)).toBe(false);
    const detail = expect.objectContaining({ path: 'a', owner: 'release-bot', reason: 'The runner is gone.' });
    expect(await audited(lock.id)).toEqual([{ actor: 'grace', address: '127.0.0.1', detail }]);
  });

  test('never releases another lock that is now on the path', async () => {
    const workspace = await service.workspace();
    const [first, second] = [await service.token({ name: 'first' }), await service.token({ name: 'second' })];
    const shown = await takeLock(service, workspace, first.secret, 'a');
    await locksOf(service, workspace, first.secret).release('a');
    const now = await takeLock(service, workspace, second.secret, 'a');
    const admin = await signedIn(service, { scopes: ['locks:admin'] });
    const sent = await send(admin, workspace, [shown], 'The runner is gone.');
    for (const { headers } of [sent, await admin.get(releaseOf(workspace, shown.id))]) {
      const { text } = await admin.get(headers.get('location') ?? '');
      expect(text).toContain('Nothing was released');
    }
    expect(await isHeld(workspace, now)).toBe(true);
    expect(await audited(now.id)).toEqual([]);
  });

  test('says that no lock is selected, or that the page has none', async () => {
    const workspace = await service.workspace();
    const writer = await signedIn(service, { scopes: ['locks:write'] });
    const shown = async (...locks: readonly string[]) => {
      const { status, headers } = await writer.get(releaseOf(workspace, ...locks));
      expect(status).toBe(303);
      return (await writer.get(headers.get('location') ?? '')).text;
    };
    expect(await shown()).toContain('No lock is selected.');
    for (const lock of ['x', '\0', '']) expect(await shown(lock)).toContain('Nothing was released');
  });
});
