import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { leasesOf } from '../leases/leases-of.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { locksOf, sharedService, untilWaiting } from './shared-service.ts';

describe.each(databaseKinds)('a service for Windows, on $name', (kind) => {
  const service = sharedService(kind, { windowsPaths: true });

  test('refuses a locked path in different case, and returns the conflicting lock', async () => {
    const { take, release } = await service.newWorkspace();
    const taken = await take('Art/Hero.psd');
    for (const path of ['art/hero.PSD', 'ART/Hero.psd']) {
      const { detail, lock } = expectProblem(await take(path), 'locked');
      expect(lock).toEqual(taken.body);
      expect(detail).toMatch(/^Art\/Hero\.psd is held by ada /);
      expect(detail).toContain(` On Windows, ${path} is the same file.`);
    }
    expect((await take('Art/Hero.psd')).body.detail).not.toContain('Windows');
    expect((await take('art/heroes.psd')).status).toBe(201);
    expect((await (await service.newWorkspace()).take('art/hero.psd')).status).toBe(201);
    expect((await release('art/hero.psd')).status).toBe(404);
    expect((await release('Art/Hero.psd')).status).toBe(204);
    expect((await take('art/hero.psd')).status).toBe(201);
  });

  test('is found in different case by each look-up of a path', async () => {
    const { id, take, list } = await service.newWorkspace();
    const { body } = await take('Content/Hero.uasset');
    for (const query of ['path=content/hero.uasset', 'prefix=CONTENT/', 'prefix=content/h']) {
      expect((await list(`?${query}`)).body.locks, query).toEqual([body]);
    }
    expect((await list('?prefix=content/x')).body.locks).toEqual([]);
    const checked = await service.ask('POST', `/v1/workspaces/${id}/check`, {
      token: service.secret,
      json: { paths: ['CONTENT/hero.uasset'] },
    });
    expect(checked.body.locks).toMatchObject([{ path: 'Content/Hero.uasset' }]);
    const lfs = await service.ask('GET', `/v1/workspaces/${id}/lfs/locks?path=content/hero.uasset`, {
      token: service.secret,
    });
    expect(lfs.body.locks).toMatchObject([{ path: 'Content/Hero.uasset' }]);
  });

  test('locks one file once in a lease, and names the path that it refuses', async () => {
    const { id, take, list } = await service.newWorkspace();
    const { put } = leasesOf(service, id, service.secret);
    const twice = await put(randomUUID(), { paths: ['a', 'Hero', 'hero'] });
    expectInvalid(twice, '#/paths');
    expect(twice.body.detail).toContain('Hero is the same file as another');
    expect((await put(randomUUID(), { paths: ['a', 'Hero'] })).status).toBe(201);
    expect((await put(randomUUID(), { paths: ['b', 'HERO'] })).body.locks).toMatchObject([{ path: 'Hero' }]);
    expect((await take('A')).status).toBe(409);
    expect((await list()).body.locks).toHaveLength(2);
  });

  test('answers a wait for a path in different case when its lock is released, or the wait times out', async () => {
    const { take, release, list } = await service.newWorkspace();
    const { body } = await take('Hero');
    const waitFor = (path: string, seconds: number) =>
      list(`?path=${path}`, { headers: { prefer: `wait=${seconds}` } });
    expect((await waitFor('hero', 1)).body.locks).toEqual([body]);
    let isAnswered = false;
    const waiting = waitFor('hero', 30).then((response) => {
      isAnswered = true;
      return response;
    });
    await untilWaiting(service, service.secret, 1);
    expect((await take('HERO')).status).toBe(409);
    expect(isAnswered).toBe(false);
    await release('Hero');
    expect((await waiting).body.locks).toEqual([]);
    expect((await take('hero')).status).toBe(201);
  });
});

describe.each(databaseKinds)('a service that is changed to Windows paths, on $name', (kind) => {
  async function openShared(): Promise<DatabaseKind> {
    const { storage, remove } = await kind.open();
    onTestFinished(remove);
    return { ...kind, open: async () => ({ storage, remove: async () => undefined }) };
  }

  test('keeps, renews and releases the existing locks, and replays the remembered responses', async () => {
    const shared = await openShared();
    const shipped = await startTestService(shared);
    const { secret } = await shipped.token();
    const workspace = await shipped.workspace();
    const before = locksOf(shipped, workspace, secret);
    const key = { 'idempotency-key': 'map-1' };
    const taken = await before.take('Map', key);
    for (const path of ['Hero', 'hero']) expect((await before.take(path)).status).toBe(201);
    expect(await before.paths()).toEqual(['Hero', 'Map', 'hero']);
    await shipped.stop();

    const forWindows = await startTestService(shared, { windowsPaths: true });
    const { take, release } = locksOf(forWindows, workspace, secret);
    expect((await take('HERO')).status).toBe(409);
    for (const path of ['Hero', 'hero']) expect((await take(path)).body.lock.path).toBe(path);
    const replayed = await take('Map', key);
    expect([replayed.status, replayed.body]).toEqual([201, taken.body]);
    const renewal = { ttl: '2h', 'if-match': taken.headers.get('etag') ?? '' };
    expect((await take('Map', renewal)).status).toBe(200);
    for (const path of ['Map', 'Hero']) expect((await release(path)).status).toBe(204);
    const refused = await take('HERO');
    expect([refused.status, refused.body.lock.path]).toEqual([409, 'hero']);
    expect((await release('hero')).status).toBe(204);
    expect((await take('HERO')).status).toBe(201);
    await forWindows.stop();
  });
});
