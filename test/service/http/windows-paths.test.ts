import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseKind, realDatabaseKinds } from '../../support/databases.ts';
import { type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { expectProblem } from './expect-problem.ts';

function asker(service: RunningService, token: string, workspace: string) {
  const locks = `/v1/workspaces/${workspace}/locks`;
  return {
    take: (path: string, ttl = '1h', headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
      service.ask('POST', locks, { token, headers, json: { path, type: 'exclusive', ttl } }),
    release: (path: string): Promise<Reply> => service.ask('DELETE', `${locks}/${encodeURIComponent(path)}`, { token }),
    waitFor: (path: string, seconds: number): Promise<Reply> =>
      service.ask('GET', `${locks}?${new URLSearchParams({ path })}`, {
        token,
        headers: { prefer: `wait=${seconds}` },
      }),
    list: async (): Promise<readonly string[]> =>
      (await service.ask('GET', locks, { token })).body.locks.map(({ path }: { path: string }) => path),
  };
}

async function started(kind: DatabaseKind, windowsPaths: boolean) {
  const service = await startTestService(kind, { windowsPaths });
  const { secret } = await service.token();
  return { service, newWorkspace: async () => asker(service, secret, await service.workspace()) };
}

describe.each(realDatabaseKinds)('a service for Windows, on $name', (kind) => {
  let service: RunningService;
  let newWorkspace: () => Promise<ReturnType<typeof asker>>;
  beforeAll(async () => {
    ({ service, newWorkspace } = await started(kind, true));
  });
  afterAll(() => service.stop());

  test.each([
    ['a.', 'dot or a space'],
    ['a /b', 'dot or a space'],
    ['a:x', 'colon'],
    ['a?', '< > : " | ? *'],
    ['Art/nul.txt', 'device'],
  ])('refuses a lock on %j with the reason', async (path, why) => {
    const { take } = await newWorkspace();
    const refused = await take(path);
    expectProblem(refused, 'invalid-request');
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([{ pointer: '#/path', detail: expect.stringContaining(why) }]);
  });

  test('refuses another case of a path that is locked, with the lock that is in the way', async () => {
    const { take, release } = await newWorkspace();
    const taken = await take('Art/Hero.psd');
    for (const path of ['art/hero.PSD', 'ART/Hero.psd']) {
      const refused = await take(path);
      expectProblem(refused, 'locked');
      expect(refused.body.lock).toEqual(taken.body);
      expect(refused.body.detail).toMatch(/^Art\/Hero\.psd is held by ada /);
      expect(refused.body.detail).toContain(` On Windows, ${path} is the same file.`);
    }
    expect((await take('art/heroes.psd')).status).toBe(201);
    expect((await release('art/hero.psd')).status).toBe(404);
    expect((await release('Art/Hero.psd')).status).toBe(204);
    expect((await take('art/hero.psd')).status).toBe(201);
  });

  test('refuses the same path without talk of Windows', async () => {
    const { take } = await newWorkspace();
    await take('Hero');
    expect((await take('Hero')).body.detail).not.toContain('Windows');
  });

  test('keeps workspaces apart', async () => {
    const [one, other] = [await newWorkspace(), await newWorkspace()];
    expect((await one.take('Hero')).status).toBe(201);
    expect((await other.take('hero')).status).toBe(201);
  });

  test('lets one of many spellings through that are asked for at once', async () => {
    const { take, list } = await newWorkspace();
    const spellings = Array.from({ length: 32 }, (_, bits) =>
      [...'scene'].map((letter, index) => ((bits >> index) % 2 === 0 ? letter : letter.toUpperCase())).join(''),
    );
    const answers = await Promise.all(spellings.map((path) => take(path)));
    const granted = answers.filter(({ status }) => status === 201);
    expect(granted).toHaveLength(1);
    expect(await list()).toEqual([granted[0]?.body.path]);
    for (const refused of answers.filter(({ status }) => status !== 201)) {
      expectProblem(refused, 'locked');
      expect(refused.body.lock).toEqual(granted[0]?.body);
    }
  });

  test('lets nobody wait for a lock that has expired, under whatever spelling', async () => {
    const { take } = await newWorkspace();
    await take('Hero', '1s');
    await expect.poll(async () => (await take('hero')).status, { timeout: 10_000 }).toBe(201);
    expect((await take('Hero')).status).toBe(409);
  });

  test('looks at the clock and not at the row, which may be there for a while', async () => {
    const { take } = await newWorkspace();
    const { body } = await take('Hero');
    // Nothing that was written by the service has ended so long ago; its own clean-up takes it within a second.
    await service.storage.commit('global', (db) =>
      db.updateTable('locks').set({ expires_at: 1 }).where('id', '=', body.id).execute(),
    );
    expect((await take('hero')).status).toBe(201);
  });

  test('answers who waits for another spelling when the lock is released', async () => {
    const { take, release, waitFor } = await newWorkspace();
    await take('Hero');
    let isAnswered = false;
    const waiting = waitFor('hero', 30).then((answer) => {
      isAnswered = true;
      return answer;
    });
    const { secret: token } = await service.token();
    const waiters = async () => (await service.ask('GET', '/metrics', { token })).text;
    await expect.poll(waiters, { timeout: 20_000, interval: 10 }).toMatch(/^workspace_lock_waiters 1$/m);
    expect((await take('HERO')).status).toBe(409);
    expect(isAnswered).toBe(false);
    await release('Hero');
    expect((await waiting).body.locks).toEqual([]);
    expect((await take('hero')).status).toBe(201);
  });

  test('names the lock on another spelling to who has waited in vain', async () => {
    const { take, waitFor } = await newWorkspace();
    const { body } = await take('Hero');
    expect((await waitFor('hero', 1)).body.locks).toEqual([body]);
  });
});

describe.each(realDatabaseKinds)('a service that is made one for Windows, on $name', (kind) => {
  /** One database that services are started on, one after the other. */
  async function onOneDatabase(use: (shared: DatabaseKind) => Promise<void>): Promise<void> {
    const { storage, remove } = await kind.open();
    try {
      await use({ ...kind, open: async () => ({ storage, remove: async () => undefined }) });
    } finally {
      await remove();
    }
  }

  test('knows the locks that are there, renews and releases them, and remembers what it answered', async () => {
    await onOneDatabase(async (shared) => {
      const before = await started(shared, false);
      const { secret } = await before.service.token();
      const workspace = await before.service.workspace();
      const old = asker(before.service, secret, workspace);
      const key = { 'idempotency-key': 'nul-1' };
      const taken = await old.take('nul.txt', '1h', key);
      for (const path of ['Hero', 'hero', 'a:x']) expect((await old.take(path)).status).toBe(201);
      await before.service.stop();

      const after = await started(shared, true);
      const locks = asker(after.service, secret, workspace);
      expect((await locks.take('HERO')).status).toBe(409);
      for (const path of ['Hero', 'hero']) expect((await locks.take(path)).body.lock.path).toBe(path);
      expect((await locks.take('nul.txt')).status).toBe(422);
      const replayed = await locks.take('nul.txt', '1h', key);
      expect([replayed.status, replayed.body]).toEqual([201, taken.body]);
      const etag = { 'if-match': taken.headers.get('etag') ?? '' };
      expect((await locks.take('nul.txt', '2h', etag)).status).toBe(200);
      for (const path of ['nul.txt', 'a:x', 'Hero']) expect((await locks.release(path)).status).toBe(204);
      const refused = await locks.take('HERO');
      expect([refused.status, refused.body.lock.path]).toEqual([409, 'hero']);
      expect((await locks.release('hero')).status).toBe(204);
      expect((await locks.take('HERO')).status).toBe(201);
      await after.service.stop();
    });
  });
});

describe.each(realDatabaseKinds)('a service as shipped, on $name', (kind) => {
  test('takes the case of letters for a difference, and all names', async () => {
    const { service, newWorkspace } = await started(kind, false);
    try {
      const { take, list } = await newWorkspace();
      const paths = ['Hero', 'a.', 'a:x', 'hero', 'nul.txt'];
      for (const path of paths) expect((await take(path)).status).toBe(201);
      expect(await list()).toEqual(paths);
    } finally {
      await service.stop();
    }
  });
});
