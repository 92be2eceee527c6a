import { expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { locksOf } from '../http/shared-service.ts';
import { signedIn, urlIn, type Visitor } from './browser-like.ts';
import { type TakenLock, takeLock } from './locked-service.ts';

const service = serviceOfTests();

const extendOf = (workspace: string, { path, id }: TakenLock) =>
  `/workspaces/${workspace}/locks/extend?${new URLSearchParams({ path, lock: id })}`;

const extend = (visitor: Visitor, workspace: string, { path, id: lock }: TakenLock, duration: string) =>
  visitor.post(`/workspaces/${workspace}/locks/extend`, { path, lock, duration });

/** The lifetime of a lock in full seconds, since it was acquired. */
async function lastsOf(workspace: string, { id }: TakenLock): Promise<number> {
  const query = service.storage.read.selectFrom('locks').selectAll().where('workspace_id', '=', workspace);
  const lock = await query.where('id', '=', id).executeTakeFirstOrThrow();
  return Math.floor((lock.expires_at - lock.acquired_at) / 1_000);
}

/** The names of the actions in each row. */
const offered = (page: string) =>
  [...page.matchAll(/aria-label="((?:Extend|Release) [^"]*)"/g)].map(([, name]) => name);

test('My locks lists the locks of the owner in all visible workspaces, with the allowed actions', async () => {
  const [film, game] = [await service.workspace(), await service.workspace()].sort();
  const limited = { name: 'laptop', owner: 'grace', workspaces: [film ?? ''] };
  const desk = await service.token({ name: 'desk', owner: 'grace' });
  await takeLock(service, film ?? '', desk.secret, 'b', { note: 'Final cut' });
  await takeLock(service, game ?? '', desk.secret, 'a');
  await takeLock(service, game ?? '', (await service.token({ owner: 'Grace' })).secret, 'c');
  const all = await signedIn(service, { name: 'desk', owner: 'grace', scopes: ['locks:write'] });
  const { text } = await all.get('/my-locks');
  expect(offered(text)).toEqual(['Extend b', 'Release b', 'Extend a', 'Release a']);
  for (const part of ['Final cut', `<a href="/workspaces/${game}/locks">`, '<bdi>grace</bdi>'])
    expect(text).toContain(part);
  expect((await all.get('/')).text).toContain('href="/my-locks"');
  const some = await signedIn(service, { ...limited, scopes: ['locks:write'] });
  expect(offered((await some.get('/my-locks')).text)).toEqual(['Extend b', 'Release b']);
  const reader = await signedIn(service, { ...limited, scopes: ['locks:read'] });
  const read = (await reader.get('/my-locks')).text;
  expect([offered(read), read.includes('title="b"') || read.includes('<bdi>b</bdi>')]).toEqual([[], true]);
  const nobody = await signedIn(service, { name: 'nobody', scopes: ['locks:read'] });
  expect((await nobody.get('/my-locks')).text).toContain('You hold no locks.');
  expect((await (await signedIn(service, { scopes: ['sync'] })).get('/')).text).not.toContain('/my-locks');
});

test('My locks lists at most 200 locks, says how many there are, and leads to all', async () => {
  const workspace = await service.workspace();
  const rows = Array.from({ length: 203 }, (_, index) => ({
    workspace_id: workspace,
    path: `f${index}`,
    owner: 'farm',
  }));
  await storeLocks(service.storage, ...rows);
  const farm = await signedIn(service, { name: 'farm', scopes: ['locks:write'] });
  const { text } = await farm.get('/my-locks');
  expect(offered(text)).toHaveLength(400);
  expect(text).toContain('200 of 203 locks');
  const all = await farm.get(urlIn(text, /href="([^"]+)">All in/));
  expect(all.text).toContain('100 of 203 locks');
});

test('both sides see on the start page and My locks that one waits for the other, who may withdraw', async () => {
  const workspace = await service.workspace();
  const ada = await signedIn(service, { name: 'ada-1', scopes: ['locks:write'] });
  const bo = await signedIn(service, { name: 'bo-1', scopes: ['locks:write'] });
  await takeLock(service, workspace, ada.secret, 'Content/Hero.uasset');
  const sections = async (visitor: Visitor) =>
    Promise.all(
      ['/', '/my-locks'].map(async (page) => {
        const { text } = await visitor.get(page);
        return ['Others wait for you', 'You wait for'].filter((title) => text.includes(`<h2>${title}</h2>`));
      }),
    );
  expect([await sections(ada), await sections(bo)]).toEqual([
    [[], []],
    [[], []],
  ]);
  await bo.post(`/workspaces/${workspace}/locks/ask`, { path: 'Content/Hero.uasset', note: 'For the trailer' });
  expect(await sections(ada)).toEqual([['Others wait for you'], ['Others wait for you']]);
  expect(await sections(bo)).toEqual([['You wait for'], ['You wait for']]);
  for (const said of ['data-notice="bo-1 waits for Content/Hero.uasset"', 'For the trailer'])
    expect((await ada.get('/')).text).toContain(said);
  const { text } = await bo.get('/my-locks');
  for (const said of ['1 of 1', '<bdi>ada-1</bdi>', 'Withdraw']) expect(text).toContain(said);
  const otherToken = await signedIn(service, { name: 'bo-2', owner: 'bo-1', scopes: ['locks:write'] });
  expect((await otherToken.get('/my-locks')).text).not.toContain('Withdraw</button>');
  await bo.post(urlIn(text, /action="([^"]+withdraw)"/), { path: 'Content/Hero.uasset' });
  expect([await sections(ada), await sections(bo)]).toEqual([
    [[], []],
    [[], []],
  ]);
});

test('releasing a lock from My locks leads back to it, without force', async () => {
  const workspace = await service.workspace();
  const ada = await signedIn(service, { name: 'ada', scopes: ['locks:write'] });
  const lock = await takeLock(service, workspace, ada.secret, 'a', { origin: '' });
  const { text } = await ada.get('/my-locks');
  const release = urlIn(text, /href="([^"]+)" aria-label="Release a"/);
  const page = await ada.get(release, { referer: `${service.baseUrl}/my-locks?notice=taken` });
  expect(page.text).toContain('push your changes first');
  expect(page.text).not.toContain('A job that is still running');
  const back = urlIn(page.text, /name="back" value="([^"]*)"/);
  expect(back).toBe('/my-locks');
  const fields = { path: 'a', lock: lock.id, back };
  const response = await ada.post(`/workspaces/${workspace}/locks/release`, fields);
  expect(response.headers.get('location')).toBe('/my-locks?notice=released');
  expect(await locksOf(service, workspace, ada.secret).paths()).toEqual([]);
});

test('any token of the owner can extend a lock to a chosen time, but not shorten it', async () => {
  const workspace = await service.workspace(undefined, { desk_ttl: '2d' });
  const ada = await signedIn(service, { name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
  const desk = await service.token({ name: 'desk', owner: 'ada' });
  const lock = await takeLock(service, workspace, desk.secret, 'Content/Hero.uasset', { ttl: '1h' });
  const page = await ada.get(extendOf(workspace, lock), {
    referer: `${service.baseUrl}/workspaces/${workspace}/locks`,
  });
  for (const part of ['Content/Hero.uasset', 'value="2d"', `value="/workspaces/${workspace}/locks"`]) {
    expect(page.text).toContain(part);
  }
  const extended = await extend(ada, workspace, lock, '5h');
  expect(extended.headers.get('location')).toBe(`/workspaces/${workspace}/locks?notice=extended`);
  expect(await lastsOf(workspace, lock)).toBeGreaterThanOrEqual(5 * 3_600);
  for (const [duration, reason] of [
    ['1h', 'already lasts longer'],
    ['31d', 'at most 30d'],
    ['', 'whole number'],
  ] as const) {
    const refused = await extend(ada, workspace, lock, duration);
    expect([duration, refused.status]).toEqual([duration, 422]);
    expect(refused.text).toContain(`value="${duration}" required`);
    expect(refused.text).toMatch(new RegExp(`id="duration-problem" role="alert">[^<]*${reason}`));
  }
  expect(await lastsOf(workspace, lock)).toBeLessThan(6 * 3_600);
});

test('the id alone determines the lock to extend, even if the path in the address is another one', async () => {
  const workspace = await service.workspace();
  const ada = await signedIn(service, { name: 'ada', scopes: ['locks:write'] });
  const lock = await takeLock(service, workspace, ada.secret, 'a', { ttl: '1h' });
  for (const path of ['b', '../c']) expect((await extend(ada, workspace, { ...lock, path }, '5h')).status).toBe(303);
  expect(await lastsOf(workspace, lock)).toBeGreaterThanOrEqual(5 * 3_600);
});

test('a lock of another owner cannot be extended, and neither can one that replaced the shown lock', async () => {
  const workspace = await service.workspace();
  const admin = await signedIn(service, { name: 'root', scopes: ['locks:admin'] });
  const first = await takeLock(service, workspace, admin.secret, 'a', { ttl: '1h' });
  const { release } = locksOf(service, workspace, admin.secret);
  await release('a');
  for (const { secret } of [await service.token({ name: 'other' }), admin]) {
    const second = await takeLock(service, workspace, secret, 'a', { ttl: '1h' });
    for (const response of [await extend(admin, workspace, first, '9h'), await admin.get(extendOf(workspace, first))]) {
      expect(response.status).toBe(412);
      expect(response.text).toContain('Nothing was extended.');
      expect(response.text).toContain(`href="/workspaces/${workspace}/locks?path=a">Show the new lock</a>`);
    }
    const shown = secret === admin.secret ? 303 : 403;
    expect((await extend(admin, workspace, second, '9h')).status).toBe(shown);
    expect((await lastsOf(workspace, second)) < 2 * 3_600).toBe(shown === 403);
    await release('a', {}, '?force=true');
  }
  for (const response of [await extend(admin, workspace, first, '9h'), await admin.get(extendOf(workspace, first))]) {
    expect([response.status, response.text]).toEqual([404, expect.stringContaining('Nothing was extended.')]);
  }
});
