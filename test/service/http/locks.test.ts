import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addWorkspace, removeWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

describe.each(realDatabaseKinds)('locks on $name', (kind) => {
  let service: RunningService;
  let ada: string;
  let bob: string;
  let admin: string;

  beforeAll(async () => {
    service = await startTestService(kind);
    ada = (await service.token({ name: 'ada', scopes: ['locks:write'] })).secret;
    bob = (await service.token({ name: 'bob', scopes: ['locks:write'] })).secret;
    admin = (await service.token({ name: 'root', scopes: ['locks:admin'] })).secret;
  });
  afterAll(() => service.stop());

  const lock = (workspace: string, path: string, token = ada, ttl = '1h', headers: Record<string, string> = {}) =>
    service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
      token,
      headers,
      json: { path, type: 'exclusive', ttl },
    });
  const release = (workspace: string, path: string, token = ada, headers: Record<string, string> = {}, query = '') =>
    service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${encodeURIComponent(path)}${query}`, { token, headers });
  const list = async (workspace: string, query = '') =>
    (await service.ask('GET', `/v1/workspaces/${workspace}/locks${query}`, { token: ada })).body;

  /** Waits for the database's clock, on which expiry depends, and for nothing else. */
  async function untilExpired(workspace: string, path: string): Promise<void> {
    await expect
      .poll(() => list(workspace, `?path=${encodeURIComponent(path)}`), { timeout: 20_000, interval: 50 })
      .toMatchObject({ locks: [] });
  }

  test('a free path is taken: 201, the whole lock, its tag and its address', async () => {
    const workspace = await service.workspace();
    const { status, body, headers } = await lock(workspace, 'Content/Held by ü.uasset', ada, '90s', {
      referer: 'https://github.com/acme/game/actions/runs/1/attempts/2',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^lock_/),
      path: 'Content/Held by ü.uasset',
      type: 'exclusive',
      owner: 'ada',
      origin: 'https://github.com/acme/game/actions/runs/1/attempts/2',
      acquired_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: expect.any(String),
      fence: expect.any(Number),
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.acquired_at)).toBe(90_000);
    expect(headers.get('etag')).toBe(`"${body.id}"`);
    const { pathname } = new URL(headers.get('location') ?? '', service.baseUrl);
    expect(pathname).toBe(`/v1/workspaces/${workspace}/locks/${encodeURIComponent(body.path)}`);
    expect((await service.ask('DELETE', pathname, { token: ada })).status).toBe(204);
  });

  test('a held path is refused with its holder, to the same token like to any other', async () => {
    const workspace = await service.workspace();
    const held = (await lock(workspace, 'a')).body;
    for (const token of [ada, bob]) {
      const { status, body, headers } = await lock(workspace, 'a', token);
      expect(status).toBe(409);
      expect(body).toMatchObject({ type: 'urn:workspace-automation:problem:locked', lock: held });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('the same path in another workspace, or in other letters, is another lock', async () => {
    const [one, other] = [await service.workspace(), await service.workspace()];
    expect((await lock(one, 'a')).status).toBe(201);
    expect((await lock(other, 'a')).status).toBe(201);
    expect((await lock(one, 'A')).status).toBe(201);
  });

  test('two ways to write the same characters are the same path', async () => {
    const workspace = await service.workspace();
    expect((await lock(workspace, 'u\u0308.psd')).body.path).toBe('\u00fc.psd');
    expect((await lock(workspace, '\u00fc.psd')).status).toBe(409);
    expect((await release(workspace, 'u\u0308.psd')).status).toBe(204);
  });

  test('only an exclusive lock can be taken', async () => {
    const workspace = await service.workspace();
    const json = { path: 'a', type: 'shared', ttl: '1h' };
    const { status, body } = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token: ada, json });
    expect([status, body.errors[0].pointer]).toEqual([422, '#/type']);
  });

  test('of many that ask at once exactly one gets the lock', async () => {
    const workspace = await service.workspace();
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => lock(workspace, 'a', n % 2 ? ada : bob)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(39);
  });

  test('every lock has a larger fence than all before it in its workspace, also after a release', async () => {
    const workspaces = [await service.workspace(), await service.workspace()];
    const fences = new Map<string, number[]>(workspaces.map((workspace) => [workspace, []]));
    for (let round = 0; round < 3; round += 1) {
      for (const [workspace, given] of fences) {
        for (const path of ['a', 'b']) given.push((await lock(workspace, path)).body.fence);
        for (const path of ['b', 'a']) await release(workspace, path);
      }
    }
    for (const given of fences.values()) expect(given).toEqual([...new Set(given)].sort((a, b) => a - b));
  });

  test('the fences of a workspace that is removed are not given out again by one of the same id', async () => {
    const id = await service.workspace();
    const { storage } = service;
    const { body } = await lock(id, 'a');
    await release(id, 'a');
    await storage.commit({ workspace: id }, async (db) => {
      expect(await removeWorkspace(db, storage.now, id)).toEqual({ kind: 'removed' });
      await addWorkspace(db, storage.now, { id, remote: 'https://git.example.com/game.git' });
    });
    expect((await lock(id, 'a')).body.fence).toBeGreaterThan(body.fence);
  });

  describe('expiry', () => {
    test('a lock is gone at the end of its ttl, and the path can be taken at once', async () => {
      const workspace = await service.workspace();
      const first = (await lock(workspace, 'a', ada, '1s')).body;
      expect((await lock(workspace, 'a', bob)).status).toBe(409);
      await untilExpired(workspace, 'a');
      expect((await release(workspace, 'a')).status).toBe(404);
      const second = await lock(workspace, 'a', bob);
      expect(second.status).toBe(201);
      expect(Date.parse(second.body.acquired_at)).toBeGreaterThanOrEqual(Date.parse(first.expires_at));
      expect(second.body.fence).toBeGreaterThan(first.fence);
    });

    test('Retry-After never lets a client come too early, nor sleep through an early release', async () => {
      const workspace = await service.workspace();
      await lock(workspace, 'short', ada, '2s');
      await lock(workspace, 'long', ada, '1h');
      const soon = Number((await lock(workspace, 'short', bob)).headers.get('retry-after'));
      expect([1, 2]).toContain(soon);
      expect(Number((await lock(workspace, 'long', bob)).headers.get('retry-after'))).toBe(5);
    });
  });

  describe('renewal', () => {
    test('sets the end to now and ttl; the lock stays the same', async () => {
      const workspace = await service.workspace();
      const { body: before } = await lock(workspace, 'a', ada, '5s');
      const { status, body, headers } = await lock(workspace, 'a', ada, '2h', { 'if-match': `"${before.id}"` });
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, expires_at: body.expires_at });
      expect(headers.get('etag')).toBe(`"${before.id}"`);
      expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(7_100_000);
    });

    test('can also shorten a lock', async () => {
      const workspace = await service.workspace();
      const { body } = await lock(workspace, 'a', ada, '1h');
      await lock(workspace, 'a', ada, '1s', { 'if-match': `"${body.id}"` });
      await untilExpired(workspace, 'a');
    });

    test('of a lock that is not there is 412', async () => {
      const workspace = await service.workspace();
      for (const tag of ['"lock_1"', '*']) {
        const { status, body } = await lock(workspace, 'a', ada, '1h', { 'if-match': tag });
        expect([status, body.lock]).toEqual([412, undefined]);
      }
      expect((await list(workspace)).locks).toEqual([]);
    });

    test('of a lock that has expired is 412, and does not bring it back', async () => {
      const workspace = await service.workspace();
      const { body } = await lock(workspace, 'a', ada, '1s');
      await untilExpired(workspace, 'a');
      expect((await lock(workspace, 'a', ada, '1h', { 'if-match': `"${body.id}"` })).status).toBe(412);
      expect((await lock(workspace, 'a', bob)).status).toBe(201);
    });

    test('of a path that another lock holds now is 412 with that lock', async () => {
      const workspace = await service.workspace();
      const { body: old } = await lock(workspace, 'a');
      await release(workspace, 'a');
      const { body: now } = await lock(workspace, 'a', bob);
      const { status, body } = await lock(workspace, 'a', ada, '1h', { 'if-match': `"${old.id}"` });
      expect([status, body.lock]).toEqual([412, now]);
    });

    test("of another token's lock is 403, whoever knows its tag", async () => {
      const workspace = await service.workspace();
      const { body: held } = await lock(workspace, 'a');
      for (const token of [bob, admin]) {
        const { status, body } = await lock(workspace, 'a', token, '2h', { 'if-match': `"${held.id}"` });
        expect([status, body.type]).toEqual([403, 'urn:workspace-automation:problem:lock-of-another-token']);
      }
      expect((await list(workspace)).locks).toEqual([held]);
    });
  });

  describe('release', () => {
    test('frees the path: 204 without a body, and 404 the second time', async () => {
      const workspace = await service.workspace();
      await lock(workspace, 'a/b');
      const first = await release(workspace, 'a/b');
      expect([first.status, first.text]).toEqual([204, '']);
      expect((await release(workspace, 'a/b')).status).toBe(404);
      expect((await lock(workspace, 'a/b', bob)).status).toBe(201);
    });

    test('of a path that nobody holds is 404, with If-Match too', async () => {
      const workspace = await service.workspace();
      expect((await release(workspace, 'a')).status).toBe(404);
      expect((await release(workspace, 'a', ada, { 'if-match': '"lock_1"' })).status).toBe(404);
      expect((await release(workspace, 'a', ada, { 'if-match': '*' })).status).toBe(404);
    });

    test('takes the path with raw slashes as well as with encoded ones', async () => {
      const workspace = await service.workspace();
      await lock(workspace, 'a/b c/d.psd');
      const { status } = await service.ask('DELETE', `/v1/workspaces/${workspace}/locks/a/b%20c/d.psd`, { token: ada });
      expect(status).toBe(204);
    });

    test('with the tag of the lock releases it; so does * and a list', async () => {
      const workspace = await service.workspace();
      for (const tag of [(id: string) => `"${id}"`, () => '*', (id: string) => `"x", "${id}"`]) {
        const { body } = await lock(workspace, 'a');
        expect((await release(workspace, 'a', ada, { 'if-match': tag(body.id) })).status).toBe(204);
      }
    });

    test('with any other tag is 412 with the lock that is there, and leaves it', async () => {
      const workspace = await service.workspace();
      const { body: held } = await lock(workspace, 'a');
      const others = ['"lock_1"', `W/"${held.id}"`, held.id, `"${held.id}`, '""', 'nonsense'];
      others.push(`garbage "${held.id}" garbage`, `w/"${held.id}"`, `W/ "${held.id}"`);
      for (const tag of others) {
        const { status, body } = await release(workspace, 'a', ada, { 'if-match': tag });
        expect([tag, status, body.lock]).toEqual([tag, 412, held]);
      }
      expect((await list(workspace)).locks).toEqual([held]);
    });

    test('of a lock that has changed hands is 412 with the holder of now, not 403', async () => {
      const workspace = await service.workspace();
      const { body: old } = await lock(workspace, 'a');
      await release(workspace, 'a');
      const { body: now } = await lock(workspace, 'a', bob);
      const { status, body } = await release(workspace, 'a', ada, { 'if-match': `"${old.id}"` });
      expect([status, body.lock]).toEqual([412, now]);
    });

    test("of another token's lock is 403, and the lock stays", async () => {
      const workspace = await service.workspace();
      const { body: held } = await lock(workspace, 'a');
      const { status, body } = await release(workspace, 'a', bob);
      expect([status, body.type, body.lock]).toEqual([
        403,
        'urn:workspace-automation:problem:lock-of-another-token',
        held,
      ]);
      expect((await release(workspace, 'a', bob, { 'if-match': `"${held.id}"` })).status).toBe(403);
      expect((await release(workspace, 'a', admin)).status).toBe(403);
      expect((await list(workspace)).locks).toEqual([held]);
    });

    test('by force needs locks:admin, and is recorded', async () => {
      const workspace = await service.workspace();
      const { body: held } = await lock(workspace, 'a');
      const without = await release(workspace, 'a', bob, {}, '?force=true');
      expect(without.status).toBe(403);
      expect(without.headers.get('www-authenticate')).toContain('scope="locks:admin"');
      expect((await release(workspace, 'a', admin, {}, '?force=false')).status).toBe(403);
      expect((await release(workspace, 'a', admin, { 'if-match': '"lock_1"' }, '?force=true')).status).toBe(412);
      expect((await release(workspace, 'a', admin, {}, '?force=true')).status).toBe(204);
      const entries = await service.storage.read.selectFrom('audit').selectAll().execute();
      const entry = entries.find(({ detail }) => detail.includes(workspace));
      expect(entry).toMatchObject({ actor: 'root', action: 'lock.force-released', address: '127.0.0.1' });
      expect(entry?.token_id).toMatch(/^tok_/);
      expect(JSON.parse(entry?.detail ?? '{}')).toMatchObject({ path: 'a', lock: held.id, owner: 'ada' });
    });

    test("one's own lock needs no force, and is not recorded as one", async () => {
      const workspace = await service.workspace();
      await lock(workspace, 'a');
      expect((await release(workspace, 'a', ada, {}, '?force=true')).status).toBe(204);
      const entries = await service.storage.read.selectFrom('audit').select('detail').execute();
      expect(entries.filter(({ detail }) => detail.includes(workspace))).toEqual([]);
    });
  });

  test('the origin of a lock is a web address, or nothing', async () => {
    const workspace = await service.workspace();
    const origins: (string | null)[] = [];
    for (const referer of ['https://user:secret@ci.example.com/1#part', 'javascript:alert(1)', 'not an address', '']) {
      origins.push((await lock(workspace, 'a', ada, '1h', { referer })).body.origin);
      await release(workspace, 'a');
    }
    expect(origins).toEqual(['https://ci.example.com/1', null, null, null]);
  });
});
