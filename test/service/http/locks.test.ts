import { beforeAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { removeWorkspaceInBatches } from '../../../src/service/workspaces/remove-workspace.ts';
import { databaseKinds } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { storeWorkspace } from '../../support/stored-rows.ts';
import { expectProblem } from './expect-problem.ts';
import { type Locks, locksOf, sharedService } from './shared-service.ts';

describe.each(databaseKinds)('locks on $name', (kind) => {
  const service = sharedService(kind);
  const secrets = { ada: '', bob: '', root: '' };
  beforeAll(async () => {
    for (const name of ['ada', 'bob', 'root'] as const) {
      const scopes = [name === 'root' ? 'locks:admin' : 'locks:write'] as const;
      secrets[name] = (await service.token({ name, scopes })).secret;
    }
  });

  /** An empty workspace, as seen by two owners and an administrator. */
  async function newWorkspace() {
    const id = await service.workspace();
    const locksAs = (name: keyof typeof secrets) => locksOf(service, id, secrets[name]);
    return { id, ada: locksAs('ada'), bob: locksAs('bob'), root: locksAs('root') };
  }

  /** Waits until the lock has expired by the clock of the database. */
  const untilExpired = ({ paths }: Locks, path: string): Promise<void> =>
    expect.poll(() => paths(`?path=${path}`), { interval: 50 }).toEqual([]);

  test('acquiring a free path returns 201 with the complete lock, its ETag and its URL', async () => {
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
      lease: null,
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.acquired_at)).toBe(90_000);
    expect(headers.get('etag')).toBe(`"${body.id}"`);
    const { pathname } = new URL(headers.get('location') ?? '', service.baseUrl);
    expect(pathname).toBe(`/v1/workspaces/${id}/locks/${encodeURIComponent(body.path)}`);
    expect((await service.ask('DELETE', pathname, { token: secrets.ada })).status).toBe(204);
  });

  test('acquiring a locked path is refused with the current lock, also to its own holder', async () => {
    const { ada, bob } = await newWorkspace();
    const { body: lock } = await ada.take('a');
    for (const { take } of [ada, bob]) {
      const refused = await take('a');
      expect(expectProblem(refused, 'locked').lock).toEqual(lock);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('every lock has a larger fence than all before, also after a release and in a recreated workspace', async () => {
    const { id, ada } = await newWorkspace();
    const fences: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (const path of ['a', 'b']) fences.push((await ada.take(path)).body.fence);
      for (const path of ['b', 'a']) await ada.release(path);
    }
    const { storage } = service;
    expect(await removeWorkspaceInBatches(storage, operator, id)).toEqual({ kind: 'removed' });
    await storeWorkspace(storage, { id });
    fences.push((await ada.take('a')).body.fence);
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });

  describe('expiry', () => {
    test('removes a lock when its ttl ends, and frees the path immediately', async () => {
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

    test('sets Retry-After to the remaining time of the lock, but to at most 5 s', async () => {
      const { ada, bob } = await newWorkspace();
      await ada.take('short', { ttl: '4s' });
      await ada.take('long');
      expect([1, 2, 3, 4]).toContain(Number((await bob.take('short')).headers.get('retry-after')));
      expect(Number((await bob.take('long')).headers.get('retry-after'))).toBe(5);
    });
  });

  describe('renewal', () => {
    test('sets the expiry to now plus the ttl, later or sooner, and keeps the lock otherwise', async () => {
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
  });

  test('the ETag of an earlier lock gets 412 with the current lock of another owner, not 403', async () => {
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
    test('frees the path with 204, and gets 404 the second time, also with If-Match', async () => {
      const { ada, bob } = await newWorkspace();
      await ada.take('a/b');
      const first = await ada.release('a/b');
      expect([first.status, first.text]).toEqual([204, '']);
      for (const condition of [{}, { 'if-match': '"lock_1"' }, { 'if-match': '*' }]) {
        expect((await ada.release('a/b', condition)).status).toBe(404);
      }
      expect((await bob.take('a/b')).status).toBe(201);
    });

    test('requires locks:admin if forced, and is then audited', async () => {
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

    test('is not audited as forced if the token holds the lock itself', async () => {
      const { id, ada } = await newWorkspace();
      await ada.take('a');
      expect((await ada.release('a', {}, '?force=true&reason=Mine')).status).toBe(204);
      expect(await auditOf(id)).toEqual([]);
    });

    async function auditOf(workspace: string) {
      const { entries } = await readAudit(service.storage, { limit: 100 });
      return entries.filter(({ action, detail }) => action !== 'workspace.added' && detail['workspace'] === workspace);
    }
  });

  test('the origin of a lock is a web URL or null', async () => {
    const { ada } = await newWorkspace();
    const origins: (string | null)[] = [];
    for (const referer of ['https://user:secret@ci.example.com/1#part', 'javascript:alert(1)', 'not an address', '']) {
      origins.push((await ada.take('a', { referer })).body.origin);
      await ada.release('a');
    }
    expect(origins).toEqual(['https://ci.example.com/1', null, null, null]);
  });
});
