import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../../src/service/http/rate-limit.ts';
import { startServer } from '../../../src/service/http/server.ts';
import { type LockWaiters, maxWaitersOfToken } from '../../../src/service/locks/waiters.ts';
import { createToken, revokeToken } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { type DatabaseKind, realDatabaseKinds } from '../../support/databases.ts';
import { ask as askOnce, type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { describedApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';

/** Asks without end how many wait, until it is so many. */
async function untilWaiting(service: RunningService, token: string, count: number): Promise<void> {
  const waiting = async (): Promise<string | undefined> => {
    const { text } = await service.ask('GET', '/metrics', { token });
    return /^workspace_lock_waiters (\d+)$/m.exec(text)?.[1];
  };
  await expect.poll(waiting, { timeout: 20_000, interval: 10 }).toBe(String(count));
}

function asker(service: RunningService, token: string, workspace: string) {
  const locks = `/v1/workspaces/${workspace}/locks`;
  return {
    take: async (path: string, ttl = '1h', headers: Record<string, string> = {}): Promise<Reply> => {
      const taken = await service.ask('POST', locks, { token, headers, json: { path, type: 'exclusive', ttl } });
      expect(taken.status).toBeLessThan(300);
      return taken;
    },
    release: async (path: string): Promise<void> => {
      expect((await service.ask('DELETE', `${locks}/${path}`, { token })).status).toBe(204);
    },
    list: (query: string, prefer?: string, signal?: AbortSignal): Promise<Reply> =>
      service.ask('GET', locks + query, {
        token,
        ...(prefer !== undefined && { headers: { prefer } }),
        ...(signal && { signal }),
      }),
  };
}

const pathsIn = ({ body }: Reply): readonly string[] => body.locks.map(({ path }: { path: string }) => path);

describe.each(realDatabaseKinds)('waiting for a path, on $name', (kind) => {
  let service: RunningService;
  let token: string;
  let workspace: string;
  let ask: ReturnType<typeof asker>;

  beforeAll(async () => {
    service = await startTestService(kind);
    token = (await service.token()).secret;
    workspace = await service.workspace();
    ask = asker(service, token, workspace);
  });
  afterAll(() => service.stop());

  test('that is free is over at once, and says that it was done', async () => {
    const answer = await ask.list('?path=free', 'wait=30');
    expect([answer.status, answer.body]).toEqual([200, { locks: [], next_cursor: null }]);
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    expect(answer.headers.get('vary')).toBe('Prefer');
  });

  test('ends for the first when it is released, and for the next when it is free again', async () => {
    await ask.take('one');
    const answered: string[] = [];
    const wait = async (name: string): Promise<Reply> => {
      const answer = await ask.list('?path=one', 'wait=30');
      answered.push(name);
      return answer;
    };
    const first = wait('first');
    await untilWaiting(service, token, 1);
    const second = wait('second');
    await untilWaiting(service, token, 2);
    await ask.release('one');
    expect(pathsIn(await first)).toEqual([]);
    await ask.take('one');
    expect(answered).toEqual(['first']);
    await ask.release('one');
    expect(pathsIn(await second)).toEqual([]);
  });

  test('ends for the next where the first does not take it', async () => {
    await ask.take('left');
    const waits = [ask.list('?path=left', 'wait=30'), ask.list('?path=left', 'wait=30')];
    await untilWaiting(service, token, 2);
    await ask.release('left');
    for (const answer of await Promise.all(waits)) expect(pathsIn(answer)).toEqual([]);
  });

  test('ends with its time, and shows who still holds it', async () => {
    const { body: held } = await ask.take('held');
    const began = performance.now();
    const answer = await ask.list('?path=held', 'wait=1');
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(answer.body).toEqual({ locks: [held], next_cursor: null });
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
    expect((await ask.list('?path=held', 'wait=0')).headers.get('preference-applied')).toBe('wait=0');
  });

  test('ends with the ttl of the lock, and not before where that was renewed', async () => {
    const { headers } = await ask.take('short', '1s');
    await ask.take('short', '2s', { 'if-match': headers.get('etag') ?? '' });
    const { expires_at } = (await ask.list('?path=short')).body.locks[0];
    const answer = await ask.list('?path=short', 'wait=30');
    expect(pathsIn(answer)).toEqual([]);
    const answeredAt = Date.parse(answer.headers.get('date') ?? '');
    // The header has no milliseconds.
    expect(answeredAt).toBeGreaterThanOrEqual(Math.floor(Date.parse(expires_at) / 1_000) * 1_000);
  });

  test('ends as soon as nobody listens, and the next is told', async () => {
    await ask.take('gone');
    const leaving = new AbortController();
    const first = ask.list('?path=gone', 'wait=30', leaving.signal).catch(() => 'gone');
    await untilWaiting(service, token, 1);
    const second = ask.list('?path=gone', 'wait=30');
    await untilWaiting(service, token, 2);
    leaving.abort();
    expect(await first).toBe('gone');
    await untilWaiting(service, token, 1);
    await ask.release('gone');
    expect(pathsIn(await second)).toEqual([]);
  });

  test('lasts 30 s at most, and none of it is counted for how long requests take', async () => {
    await ask.take('log');
    const waiting = ask.list('?path=log', 'wait=3600');
    await untilWaiting(service, token, 1);
    await ask.release('log');
    const answer = await waiting;
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    const line = service
      .log()
      .split('\n')
      .find((text) => text.includes(answer.headers.get('x-request-id') ?? ''));
    expect(JSON.parse(line ?? '')).toMatchObject({ status: 200, waited_ms: expect.any(Number), msg: 'request' });
  });

  test.each([
    ['without a path', '', 'wait=30'],
    ['with a prefix', '?path=kept&prefix=k', 'wait=30'],
    ['with a cursor', `?path=kept&cursor=${Buffer.from('a').toString('base64url')}`, 'wait=30'],
    ['that cannot be read', '?path=kept', 'wait=soon'],
    ['of another kind', '?path=kept', 'respond-async'],
  ])('%s is none', async (_, query, prefer) => {
    const found = await ask.list('?path=kept');
    if (pathsIn(found).length === 0) await ask.take('kept');
    const answer = await ask.list(query, prefer);
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, null]);
    expect(pathsIn(answer)).toContain('kept');
  });

  test('is for those who may see the locks, and ends where their token is revoked', async () => {
    await ask.take('secret');
    const elsewhere = (await service.token({ workspaces: [await service.workspace()] })).secret;
    const withoutScope = (await service.token({ scopes: ['sync'] })).secret;
    expectProblem(await asker(service, elsewhere, workspace).list('?path=secret', 'wait=30'), 'not-found');
    expectProblem(await asker(service, withoutScope, workspace).list('?path=secret', 'wait=30'), 'insufficient-scope');
    const revoked = await service.token();
    const waiting = asker(service, revoked.secret, workspace).list('?path=secret', 'wait=30');
    await untilWaiting(service, token, 1);
    const { storage } = service;
    await storage.commit('global', (db) => revokeToken(db, storage.now, revoked.id));
    await ask.release('secret');
    expectProblem(await waiting, 'unauthorized');
  });
});

describe.each(realDatabaseKinds)('a thousand who wait for a path, on $name', (kind) => {
  test('ask nothing of the database, and one that comes later is answered at once', async () => {
    let looks = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        // As the answer to who holds a path has it, and no other.
        if (result.rows.some((row) => 'remaining' in row)) looks += 1;
        return result;
      },
    };
    const counted: DatabaseKind = {
      name: kind.name,
      async open(onCommit) {
        const { storage, remove } = await kind.open(onCommit);
        return { storage: { ...storage, read: storage.read.withPlugin(counting) }, remove };
      },
    };
    const service = await startTestService(counted);
    const token = (await service.token()).secret;
    const workspace = await service.workspace();
    const ask = asker(service, token, workspace);
    await ask.take('a');
    const leaving = new AbortController();
    const wait = (): Promise<string> =>
      ask.list('?path=a', 'wait=30', leaving.signal).then(
        ({ status }) => `answered with ${status}`,
        () => 'gone',
      );
    const waits: Promise<string>[] = [];
    // A few at a time: this process is at both ends of all these connections.
    while (waits.length < maxWaitersOfToken) {
      waits.push(...Array.from({ length: 100 }, wait));
      await untilWaiting(service, token, waits.length);
    }
    // On PostgreSQL a second time, for what may have happened until it was listened to.
    expect(looks).toBeLessThanOrEqual(2);
    const before = looks;
    const late = await ask.list('?path=a', 'wait=30');
    expect([pathsIn(late), late.headers.get('preference-applied')]).toEqual([['a'], null]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(looks).toBe(before);
    leaving.abort();
    expect(await Promise.all(waits)).toEqual(waits.map(() => 'gone'));
    await untilWaiting(service, token, 0);
    expect(looks).toBe(before);
    await service.stop();
  });
});

describe.each(anyDatabase)('a server that waits for nobody to send a request', (kind) => {
  test('lets one that has been sent wait for a path', async () => {
    const { storage, remove } = await kind.open();
    const newToken = { name: 'ada', scopes: ['locks:read'], workspaces: null, lifetime: null } as const;
    const { secret } = await storage.commit('global', async (db) => {
      await addWorkspace(db, storage.now, { id: 'game', remote: 'https://git.example.com/r.git' });
      return createToken(db, storage.now, newToken);
    });
    const lockWaiters: LockWaiters = {
      wait: () => new Promise((resolve) => setTimeout(resolve, 600, 'free')),
      released: () => undefined,
      renewed: () => undefined,
      stop: () => undefined,
    };
    const app = describedApp({ storage, lockWaiters, rateLimiter: createRateLimiter(null, () => 0) });
    const server = await startServer(app, '127.0.0.1', 0, {
      patience: { headersMs: 100, requestMs: 100, checkEveryMs: 20 },
    });
    const answer = await askOnce(`http://127.0.0.1:${server.port}`, 'GET', '/v1/workspaces/game/locks?path=a', {
      token: secret,
      headers: { prefer: 'wait=30' },
    });
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'wait=30']);
    await server.close(0);
    await remove();
  });
});

describe.each(anyDatabase)('stopping', (kind) => {
  test('answers those who wait at once', async () => {
    const service = await startTestService(kind);
    const token = (await service.token()).secret;
    const workspace = await service.workspace();
    const ask = asker(service, token, workspace);
    await ask.take('a');
    const waits = Array.from({ length: 20 }, () => ask.list('?path=a', 'wait=30'));
    await untilWaiting(service, token, 20);
    const began = performance.now();
    await service.stop();
    for (const answer of await Promise.all(waits)) {
      expect([answer.status, pathsIn(answer)]).toEqual([200, ['a']]);
    }
    expect(performance.now() - began).toBeLessThan(8_000);
  });
});
