import { beforeAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/read-audit.ts';
import { addWorkspace, removeWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { expectProblem } from './expect-problem.ts';
import { type Locks, locksOf, sharedService } from './shared-service.ts';

describe.each(realDatabaseKinds)('locks on $name', (kind) => {
  const service = sharedService(kind);
  const secrets = { ada: '', bob: '', root: '' };
  beforeAll(async () => {
    for (const name of ['ada', 'bob', 'root'] as const) {
      const scopes = [name === 'root' ? 'locks:admin' : 'locks:write'] as const;
      secrets[name] = (await service.token({ name, scopes })).secret;
    }
  });

  /** An empty workspace, as two who take locks in it and an administrator see it. */
  async function newWorkspace() {
    const id = await service.workspace();
    const locksAs = (name: keyof typeof secrets) => locksOf(service, id, secrets[name]);
    return { id, ada: locksAs('ada'), bob: locksAs('bob'), root: locksAs('root') };
  }

  /** Waits for the database's clock, on which expiry depends, and for nothing else. */
  const untilExpired = ({ paths }: Locks, path: string): Promise<void> =>
    expect.poll(() => paths(`?path=${path}`), { timeout: 20_000, interval: 50 }).toEqual([]);

  test('a free path is taken: 201, the whole lock, its tag and its address', async () => {
    const { id, ada } = await newWorkspace();
    const origin = 'https://github.com/acme/game/actions/runs/1/attempts/2';
    const { status, body, headers } = await ada.take('Content/Held by ü.uasset', { ttl: '90s', referer: origin });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^lock_/),
      path: 'Content/Held by ü.uasset',
      type: 'exclusive',
      owner: 'ada',
      origin,
      note: null,
      acquired_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: expect.any(String),
      fence: expect.any(Number),
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.acquired_at)).toBe(90_000);
    expect(headers.get('etag')).toBe(`"${body.id}"`);
    const { pathname } = new URL(headers.get('location') ?? '', service.baseUrl);
    expect(pathname).toBe(`/v1/workspaces/${id}/locks/${encodeURIComponent(body.path)}`);
    expect((await service.ask('DELETE', pathname, { token: secrets.ada })).status).toBe(204);
  });

  test('a held path is refused with its holder, to the same token like to any other', async () => {
    const { ada, bob } = await newWorkspace();
    const { body: lock } = await ada.take('a');
    for (const { take } of [ada, bob]) {
      const refused = await take('a');
      expect(expectProblem(refused, 'locked').lock).toEqual(lock);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('of many that ask at once exactly one gets the lock', async () => {
    const { ada, bob } = await newWorkspace();
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 ? ada : bob).take('a')));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(39).fill(409)]);
  });

  test('every lock has a larger fence than all before it, also after a release and in a workspace of the same id', async () => {
    const { id, ada } = await newWorkspace();
    const fences: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (const path of ['a', 'b']) fences.push((await ada.take(path)).body.fence);
      for (const path of ['b', 'a']) await ada.release(path);
    }
    const { storage } = service;
    await storage.commit({ workspace: id }, async (db) => {
      expect(await removeWorkspace(db, storage.now, id)).toEqual({ kind: 'removed' });
      await addWorkspace(db, storage.now, { id, remote: 'https://git.example.com/game.git' });
    });
    fences.push((await ada.take('a')).body.fence);
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });

  test('a lock in a workspace that is removed meanwhile is not found, and nothing of it is left', async () => {
    const { id, ada } = await newWorkspace();
    const { commit, read } = service.storage;
    // Asked for together, so that the removal comes between the look-up of the workspace and the lock.
    const removed = commit('global', async (db) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await db.deleteFrom('workspaces').where('id', '=', id).execute();
    });
    expectProblem(await ada.take('a'), 'not-found');
    await removed;
    expect(await read.selectFrom('locks').select('path').where('workspace_id', '=', id).execute()).toEqual([]);
  });

  describe('expiry', () => {
    test('a lock is gone at the end of its ttl, and the path can be taken at once', async () => {
      const { ada, bob } = await newWorkspace();
      const { id } = (await ada.take('a')).body;
      expect((await bob.take('a')).status).toBe(409);
      const first = (await ada.take('a', { ttl: '1s', 'if-match': `"${id}"` })).body;
      await untilExpired(ada, 'a');
      expect((await ada.take('a', { 'if-match': `"${first.id}"` })).status).toBe(412);
      expect((await ada.release('a')).status).toBe(404);
      const second = await bob.take('a');
      expect(second.status).toBe(201);
      expect(Date.parse(second.body.acquired_at)).toBeGreaterThanOrEqual(Date.parse(first.expires_at));
      expect(second.body.fence).toBeGreaterThan(first.fence);
    });

    test('Retry-After never lets a client come too early, nor sleep through an early release', async () => {
      const { ada, bob } = await newWorkspace();
      await ada.take('short', { ttl: '4s' });
      await ada.take('long');
      expect([1, 2, 3, 4]).toContain(Number((await bob.take('short')).headers.get('retry-after')));
      expect(Number((await bob.take('long')).headers.get('retry-after'))).toBe(5);
    });
  });

  describe('renewal', () => {
    test('sets the end to now and ttl, later or sooner; the lock stays the same', async () => {
      const { ada } = await newWorkspace();
      const { body: before } = await ada.take('a', { ttl: '1m' });
      const renew = (ttl: string) => ada.take('a', { ttl, 'if-match': `"${before.id}"` });
      const { status, body, headers } = await renew('2h');
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, expires_at: body.expires_at });
      expect(headers.get('etag')).toBe(`"${before.id}"`);
      expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(7_100_000);
      await renew('1s');
      await untilExpired(ada, 'a');
    });

    test('of a lock that is not there is 412', async () => {
      const { ada } = await newWorkspace();
      for (const tag of ['"lock_1"', '*']) {
        expect(expectProblem(await ada.take('a', { 'if-match': tag }), 'lock-changed').lock).toBeUndefined();
      }
      expect(await ada.paths()).toEqual([]);
    });
  });

  test("another owner's lock is neither renewed nor released, whoever knows its tag: 403", async () => {
    const { ada, bob, root } = await newWorkspace();
    const { body: held } = await ada.take('a');
    const tag = { 'if-match': `"${held.id}"` };
    for (const { take, release } of [bob, root]) {
      for (const response of [await take('a', { ttl: '2h', ...tag }), await release('a', tag), await release('a')]) {
        expect(expectProblem(response, 'lock-of-another-owner').lock).toEqual(held);
      }
    }
    expect((await ada.list()).body.locks).toEqual([held]);
  });

  test('the tag of a lock that has changed hands is 412 with the lock of now, not 403', async () => {
    const { ada, bob } = await newWorkspace();
    const { body: old } = await ada.take('a');
    await ada.release('a');
    const { body: now } = await bob.take('a');
    const condition = { 'if-match': `"${old.id}"` };
    for (const response of [await ada.take('a', condition), await ada.release('a', condition)]) {
      expect(expectProblem(response, 'lock-changed').lock).toEqual(now);
    }
  });

  describe('release', () => {
    test('frees the path: 204 without a body, and 404 the second time, with If-Match too', async () => {
      const { ada, bob } = await newWorkspace();
      await ada.take('a/b');
      const first = await ada.release('a/b');
      expect([first.status, first.text]).toEqual([204, '']);
      for (const condition of [{}, { 'if-match': '"lock_1"' }, { 'if-match': '*' }]) {
        expect((await ada.release('a/b', condition)).status).toBe(404);
      }
      expect((await bob.take('a/b')).status).toBe(201);
    });

    test('with the tag of the lock releases it; so does * and a list', async () => {
      const { ada } = await newWorkspace();
      for (const tagOf of [(id: string) => `"${id}"`, () => '*', (id: string) => `"x", "${id}"`]) {
        const { body } = await ada.take('a');
        expect((await ada.release('a', { 'if-match': tagOf(body.id) })).status).toBe(204);
      }
    });

    test('with any other tag is 412 with the lock that is there, and leaves it', async () => {
      const { ada } = await newWorkspace();
      const { body: held } = await ada.take('a');
      const { id } = held;
      for (const tag of ['"lock_1"', `W/"${id}"`, `w/"${id}"`, `W/ "${id}"`, id, '""', `garbage "${id}" garbage`]) {
        expect(expectProblem(await ada.release('a', { 'if-match': tag }), 'lock-changed').lock, tag).toEqual(held);
      }
      expect((await ada.list()).body.locks).toEqual([held]);
    });

    test('by force needs locks:admin, and is recorded', async () => {
      const { id, ada, bob, root } = await newWorkspace();
      const { body: held } = await ada.take('a');
      const without = await bob.release('a', {}, '?force=true');
      expect(without.status).toBe(403);
      expect(without.headers.get('www-authenticate')).toContain('scope="locks:admin"');
      expect((await root.release('a', {}, '?force=false')).status).toBe(403);
      expect((await root.release('a', { 'if-match': '"lock_1"' }, '?force=true')).status).toBe(412);
      expect((await root.release('a', {}, '?force=true&reason=%20Cancelled+run%2C%20twice')).status).toBe(204);
      const about = { actor: 'root', token_id: expect.stringMatching(/^tok_/), address: '127.0.0.1' };
      const detail = { path: 'a', lock: held.id, owner: 'ada', reason: 'Cancelled run, twice' };
      expect(await auditOf(id)).toMatchObject([{ ...about, action: 'lock.force-released', detail }]);
    });

    test("one's own lock needs no force, and is not recorded as one", async () => {
      const { id, ada } = await newWorkspace();
      await ada.take('a');
      expect((await ada.release('a', {}, '?force=true&reason=Mine')).status).toBe(204);
      expect(await auditOf(id)).toEqual([]);
    });

    async function auditOf(workspace: string) {
      const { entries } = await readAudit(service.storage, { limit: 100 });
      return entries.filter(({ detail }) => detail['workspace'] === workspace);
    }
  });

  test('the origin of a lock is a web address, or nothing', async () => {
    const { ada } = await newWorkspace();
    const origins: (string | null)[] = [];
    for (const referer of ['https://user:secret@ci.example.com/1#part', 'javascript:alert(1)', 'not an address', '']) {
      origins.push((await ada.take('a', { referer })).body.origin);
      await ada.release('a');
    }
    expect(origins).toEqual(['https://ci.example.com/1', null, null, null]);
  });
});
