import { describe, expect, test } from 'vitest';
import { urls } from '../../../src/service/dashboard/elements/lock.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { locksOf } from '../http/shared-service.ts';
import { signedIn, urlIn, type Visitor } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests({ quotas: { maxLocksPerOwner: 3 } });

/** The values of the fields, and the errors at the fields. */
const fieldsIn = (page: string) =>
  Object.fromEntries(
    ['path', 'duration', 'note'].map((name) => [
      name,
      {
        value: new RegExp(`<input id="${name}"[^>]* value="([^"]*)"`).exec(page)?.[1],
        problem: new RegExp(`id="${name}-problem">(?:<[^>]+>)?([^<]*)`).exec(page)?.[1],
      },
    ]),
  );

async function lockFile(visitor: Visitor, workspace: string, fields: Readonly<Record<string, string>>) {
  return visitor.post(`/workspaces/${workspace}/locks`, { duration: '1h', note: '', ...fields });
}

describe('locking a file', () => {
  test('acquires a lock like the API does, for the default time of the workspace unless another is chosen', async () => {
    const workspace = await service.workspace(undefined, { desk_ttl: '3d' });
    const ada = await signedIn(service, { name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
    const list = await ada.get(`/workspaces/${workspace}/locks`);
    const address = urlIn(list.text, /href="([^"]+)">Lock a file/);
    const { text } = await ada.get(address);
    expect(fieldsIn(text)['duration']).toEqual({ value: '3d', problem: undefined });
    const referer = { referer: service.baseUrl + address };
    const typed = { path: ' .\\Content\\Hero.uasset ', duration: '2h', note: 'Repainting' };
    const send = () => ada.post(`/workspaces/${workspace}/locks`, typed, referer);
    const taken = (await send()).headers.get('location') ?? '';
    const shown = (await ada.get(taken)).text;
    expect(shown).toContain('You hold the lock on <bdi>Content/Hero.uasset</bdi>.');
    const [lock, ...more] = (await locksOf(service, workspace, ada.secret).list()).body.locks;
    expect(more).toEqual([]);
    expect(lock).toMatchObject({ path: 'Content/Hero.uasset', owner: 'ada', origin: null, note: 'Repainting' });
    expect(Date.parse(lock.expires_at) - Date.parse(lock.acquired_at)).toBe(7_200_000);

    const again = (await ada.get((await send()).headers.get('location') ?? '')).text;
    for (const told of ['Nothing was locked', 'Extend']) expect(again).toContain(told);
  });

  test('is refused if the workspace refuses outdated files, because the page has no version to compare', async () => {
    const workspace = await service.workspace(undefined, { latest: 'refuse' });
    const ada = await signedIn(service, { scopes: ['locks:write'] });
    const refused = await lockFile(ada, workspace, { path: 'a' });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Lock it from your clone')]);
    expect(await locksOf(service, workspace, ada.secret).paths()).toEqual([]);
  });

  test('reports all mistakes at once, and keeps the entered values', async () => {
    const workspace = await service.workspace();
    const ada = await signedIn(service, { scopes: ['locks:write'] });
    const refused = await lockFile(ada, workspace, { path: 'a/../b', duration: '31d', note: 'x'.repeat(201) });
    expect(refused.status).toBe(422);
    expect(fieldsIn(refused.text)).toEqual({
      path: { value: 'a/../b', problem: expect.stringContaining('segment') },
      duration: { value: '31d', problem: expect.stringContaining('to 30d') },
      note: { value: 'x'.repeat(201), problem: expect.stringContaining('at most 200 characters') },
    });
    expect(await locksOf(service, workspace, ada.secret).paths()).toEqual([]);
  });

  test('leads to the page of the path if it is locked, and says so', async () => {
    const workspace = await service.workspace();
    const ada = await signedIn(service, { name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
    const { secret } = await service.token({ name: 'release-bot' });
    const [lock] = [await takeLock(service, workspace, secret, 'Content/Hero.uasset')];
    const held = await lockFile(ada, workspace, { path: 'Content/Hero.uasset' });
    expect(held.headers.get('location')).toBe(`${urls.path(workspace, lock.path)}?notice=held`);
    const { text } = await ada.get(held.headers.get('location') ?? '');
    for (const told of ['Nothing was locked', 'release-bot', 'Keep it for me']) expect(text).toContain(told);
  });

  test('respects the limits of the workspace, and the path rules of Windows', async () => {
    const workspace = await service.workspace();
    const ada = await signedIn(service, { owner: 'full', scopes: ['locks:write'] });
    for (const path of ['a', 'b', 'c']) expect((await lockFile(ada, workspace, { path })).status).toBe(303);
    const refused = await lockFile(ada, workspace, { path: 'd' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('maximum of 3 locks');
    expect(fieldsIn(refused.text)['path']?.value).toBe('d');
  });
});
