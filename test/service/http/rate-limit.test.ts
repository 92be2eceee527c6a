import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRateLimit } from '../../../src/service/cli/values.ts';
import { createRateLimiter, type RateLimit } from '../../../src/service/http/rate-limit.ts';
import { type ListeningServer, startServer } from '../../../src/service/http/server.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { realDatabaseKinds, type TestDatabase } from '../../support/databases.ts';
import { ask, type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { describedApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';

/** A limiter, and the clock that it reads. */
function limiter(limit: RateLimit) {
  let now = 1_000_000;
  const rateLimiter = createRateLimiter(limit, () => now);
  return {
    rateLimiter,
    admit: rateLimiter.admit,
    /** Asks to release, and settles it as soon as it is let in. */
    release(tokenId: string, own: boolean): 'admitted' | 'refused' {
      const admission = rateLimiter.admitRelease(tokenId);
      const refused = admission.retryAfterSeconds !== null && !own;
      if (own) admission.waive();
      admission.settle();
      return refused ? 'refused' : 'admitted';
    },
    wait(seconds: number) {
      now += seconds * 1_000;
    },
  };
}

describe('the rate limiter', () => {
  test('admits a burst, then as many a second as the rate says', () => {
    const { admit, wait } = limiter({ perSecond: 2, burst: 3 });
    const admitted = (times: number) => Array.from({ length: times }, () => admit('a').kind === 'admitted');
    expect(admitted(5)).toEqual([true, true, true, false, false]);
    wait(0.5);
    expect(admitted(2)).toEqual([true, false]);
    wait(1);
    expect(admitted(3)).toEqual([true, true, false]);
    wait(3_600);
    expect(admitted(4)).toEqual([true, true, true, false]);
  });

  test('counts each token for itself', () => {
    const { admit } = limiter({ perSecond: 1, burst: 1 });
    expect([admit('a').kind, admit('a').kind, admit('b').kind]).toEqual(['admitted', 'refused', 'admitted']);
  });

  test('says what is left, and when there is more', () => {
    const { admit } = limiter({ perSecond: 0.5, burst: 2 });
    const policy = '"token";q=2;w=4';
    expect(admit('a').headers).toEqual({ 'ratelimit-policy': policy, ratelimit: '"token";r=1;t=0' });
    expect(admit('a').headers).toEqual({ 'ratelimit-policy': policy, ratelimit: '"token";r=0;t=2' });
    expect(admit('a')).toEqual({
      kind: 'refused',
      headers: { 'ratelimit-policy': policy, ratelimit: '"token";r=0;t=2' },
      retryAfterSeconds: 2,
    });
  });

  test('without a limit admits everything and says nothing', () => {
    const { admit } = limiter(null);
    for (let asked = 0; asked < 1_000; asked += 1) expect(admit('a')).toEqual({ kind: 'admitted', headers: {} });
  });

  test('forgets nothing that matters when there are many tokens', () => {
    const { admit, wait } = limiter({ perSecond: 1, burst: 2 });
    for (let token = 0; token < 20_000; token += 1) admit(`token ${token}`);
    wait(1.9);
    admit('busy');
    admit('busy');
    wait(1.5);
    for (let token = 0; token < 20_000; token += 1) admit(`other ${token}`);
    expect([admit('busy').kind, admit('busy').kind]).toEqual(['admitted', 'refused']);
  });

  test('is not met by eight jobs of 3,000 paths that share a token, however quick they are', () => {
    const shipped = parseRateLimit('1000/s');
    const { admit, release } = limiter(shipped.ok ? shipped.value : null);
    for (let asked = 0; asked < 8 * 3_000; asked += 1) {
      expect(admit('shared').kind).toBe('admitted');
      expect(release('shared', true)).toBe('admitted');
    }
    expect(admit('shared').headers['ratelimit']).toBe('"token";r=35999;t=0');
  });

  describe('of requests to release', () => {
    test("takes nothing for those of the token's own locks, and says so", () => {
      const { rateLimiter, admit } = limiter({ perSecond: 1, burst: 3 });
      admit('a');
      for (let released = 0; released < 100; released += 1) {
        const admission = rateLimiter.admitRelease('a');
        expect(admission.retryAfterSeconds).toBeNull();
        expect(admission.waive()['ratelimit']).toBe('"token";r=2;t=0');
        admission.settle();
      }
      expect(admit('a').headers['ratelimit']).toBe('"token";r=1;t=0');
    });

    test('charges the others, as far below nothing as there was above', () => {
      const { rateLimiter, admit, release, wait } = limiter({ perSecond: 1, burst: 3 });
      expect(rateLimiter.admitRelease('quick').headers['ratelimit']).toBe('"token";r=2;t=0');
      const answers = Array.from({ length: 8 }, () => release('a', false));
      expect(answers).toEqual([...Array(6).fill('admitted'), 'refused', 'refused']);
      expect(admit('a')).toMatchObject({ kind: 'refused', retryAfterSeconds: 4 });
      expect(release('a', true)).toBe('admitted');
      wait(1);
      expect([release('a', false), release('a', false)]).toEqual(['admitted', 'refused']);
      wait(4);
      expect([admit('a').kind, admit('a').kind]).toEqual(['admitted', 'refused']);
    });

    test('lets no more through when they all come at once, and is no different for others meanwhile', () => {
      const { rateLimiter, admit } = limiter({ perSecond: 1, burst: 3 });
      const at = Array.from({ length: 20 }, () => rateLimiter.admitRelease('a'));
      expect(at.filter(({ retryAfterSeconds }) => retryAfterSeconds === null)).toHaveLength(6);
      expect(admit('a').headers['ratelimit']).toBe('"token";r=2;t=0');
      for (const admission of at) admission.settle();
      expect(admit('a').kind).toBe('refused');
    });

    test('forgets no debt when there are many tokens', () => {
      const { release, wait } = limiter({ perSecond: 1, burst: 2 });
      const inDebt = (): void => {
        for (let asked = 0; asked < 4; asked += 1) release('busy', false);
      };
      for (let token = 0; token < 20_000; token += 1) release(`token ${token}`, true);
      wait(4.1);
      inDebt();
      wait(2.5);
      for (let token = 0; token < 20_000; token += 1) release(`other ${token}`, true);
      expect([1, 2, 3].map(() => release('busy', false))).toEqual(['admitted', 'admitted', 'refused']);
    });
  });

  const limits = fc.record({
    perSecond: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
    burst: fc.integer({ min: 1, max: 100 }),
  });
  const waits = fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { maxLength: 200 });

  test('never admits more than the burst and the rate together', () => {
    fc.assert(
      fc.property(limits, waits, (limit, pauses) => {
        const { admit, wait } = limiter(limit);
        let admitted = 0;
        let seconds = 0;
        for (const pause of pauses) {
          wait(pause);
          seconds += pause;
          if (admit('a').kind === 'admitted') admitted += 1;
          expect(admitted).toBeLessThanOrEqual(limit.burst + seconds * limit.perSecond + 1e-6);
        }
      }),
    );
  });

  test('never lets more in vain releases and other requests in than twice the burst and the rate together', () => {
    const asked = fc.array(fc.tuple(fc.double({ min: 0, max: 0.5, noNaN: true }), fc.boolean()), { maxLength: 300 });
    fc.assert(
      fc.property(limits, asked, (limit, requests) => {
        const { admit, release, wait } = limiter(limit);
        let [admitted, seconds] = [0, 0];
        for (const [pause, isRelease] of requests) {
          wait(pause);
          seconds += pause;
          if ((isRelease ? release('a', false) : admit('a').kind) === 'admitted') admitted += 1;
          expect(admitted).toBeLessThanOrEqual(2 * limit.burst + seconds * limit.perSecond + 1e-6);
          expect(release('a', true)).toBe('admitted');
        }
      }),
    );
  });

  test('lets a request to release in that waits as long as it was told', () => {
    fc.assert(
      fc.property(limits, waits, (limit, pauses) => {
        const { rateLimiter, release, wait } = limiter(limit);
        for (const pause of pauses) {
          wait(pause / 10);
          const { retryAfterSeconds, settle } = rateLimiter.admitRelease('a');
          settle();
          if (retryAfterSeconds === null) continue;
          wait(retryAfterSeconds);
          expect(release('a', false)).toBe('admitted');
        }
      }),
    );
  });

  test('admits whoever waits as long as Retry-After says', () => {
    fc.assert(
      fc.property(limits, waits, (limit, pauses) => {
        const { admit, wait } = limiter(limit);
        for (const pause of pauses) {
          wait(pause);
          const admission = admit('a');
          if (admission.kind === 'admitted') continue;
          expect(admission.retryAfterSeconds).toBeGreaterThanOrEqual(1);
          wait(admission.retryAfterSeconds);
          expect(admit('a').kind).toBe('admitted');
        }
      }),
    );
  });
});

describe.each(anyDatabase)('a token that asks too much', (kind) => {
  let database: TestDatabase;
  let server: ListeningServer;
  const { rateLimiter, wait } = limiter({ perSecond: 1, burst: 3 });

  beforeAll(async () => {
    database = await kind.open();
    server = await startServer(describedApp({ storage: database.storage, rateLimiter }), '127.0.0.1', 0);
  });
  afterAll(async () => {
    await server.close(0);
    await database.remove();
  });

  const token = async (scopes: readonly ['sync'] | readonly [] = []): Promise<string> => {
    const { storage } = database;
    const made = { name: 'ada', scopes, workspaces: null, lifetime: null };
    return (await storage.commit('global', (db) => createToken(db, storage.now, made))).secret;
  };
  const get = (path: string, secret?: string): Promise<Reply> =>
    ask(`http://127.0.0.1:${server.port}`, 'GET', path, { token: secret });

  test('is told to wait, and is let in again after that; others are not affected', async () => {
    const [busy, other] = [await token(), await token()];
    for (const left of [2, 1, 0]) {
      const { status, headers } = await get('/v1/workspaces', busy);
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"token";q=3;w=3');
      expect(headers.get('ratelimit')).toBe(`"token";r=${left};t=${left === 0 ? 1 : 0}`);
    }
    const refused = await get('/v1/workspaces', busy);
    expectProblem(refused, 'rate-limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"token";r=0;t=1');
    expect(refused.headers.get('ratelimit-policy')).toBe('"token";q=3;w=3');
    expect((await get('/v1/workspaces', other)).status).toBe(200);
    wait(1);
    expect((await get('/v1/workspaces', busy)).status).toBe(200);
    expectProblem(await get('/v1/workspaces', busy), 'rate-limited');
  });

  test('gains nothing by asking for what it may not have, or for figures', async () => {
    const secret = await token(['sync']);
    const statuses = ['/v1/workspaces/w/locks', '/metrics', '/v1/workspaces/w/branches', '/v1/workspaces'].map(
      async (path) => (await get(path, secret)).status,
    );
    expect((await Promise.all(statuses)).filter((status) => status === 429)).toHaveLength(1);
  });

  test('every answer to it has the fields, a problem too', async () => {
    const answer = await get('/v1/workspaces/w/locks', await token(['sync']));
    expectProblem(answer, 'insufficient-scope');
    expect(answer.headers.get('ratelimit')).toBe('"token";r=2;t=0');
  });

  test('is still told whether the service is there', async () => {
    const secret = await token();
    const answers = await Promise.all(Array.from({ length: 10 }, () => get('/healthz', secret)));
    expect(answers.every(({ status, headers }) => status === 200 && headers.get('ratelimit') === null)).toBe(true);
  });
});

describe.each(realDatabaseKinds)('a token that has used up its limit, on $name', (kind) => {
  let service: RunningService;
  let workspace: string;
  /** Too slow to fill up while a test runs. */
  const rateLimit = { perSecond: 0.001, burst: 6 };

  beforeAll(async () => {
    service = await startTestService(kind, { rateLimit });
    workspace = await service.workspace();
  });
  afterAll(() => service.stop());

  const take = (token: string, path: string): Promise<Reply> =>
    service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json: { path, type: 'exclusive', ttl: '1h' } });
  const release = (token: string, path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${path}`, { token, headers });
  const token = async (): Promise<string> => (await service.token({ scopes: ['locks:write'] })).secret;

  test('releases its own locks all the same, and is told so when it asks a second time', async () => {
    const own = await token();
    const paths = ['1', '2', '3', '4', '5', '6'].map((name) => `own-${name}`);
    for (const path of paths) expect((await take(own, path)).status).toBe(201);
    expectProblem(await take(own, 'one-too-many'), 'rate-limited');
    for (const path of paths) {
      const first = await release(own, path);
      expect(first.status).toBe(204);
      expect(first.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/);
      expectProblem(await release(own, path), 'not-found');
    }
  });

  test('is refused what releases nothing of its own, and never what does', async () => {
    const [guest, other] = [await token(), await token()];
    expect((await take(other, 'others')).status).toBe(201);
    const held = [(await take(guest, 'kept')).body, (await take(guest, 'named')).body];
    // The rest of its limit, and as many again.
    const statuses: number[] = [];
    for (const path of ['absent', 'others', 'named', '%01', 'absent', 'others', 'absent', 'others', 'absent', 'x']) {
      statuses.push((await release(guest, path, { 'if-match': '"another"' })).status);
    }
    expect(statuses).toEqual([404, 412, 412, 422, 404, 412, 404, 412, 404, 404]);
    const refused = await release(guest, 'absent');
    expectProblem(refused, 'rate-limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(900);
    expect(refused.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d{4}$/);
    for (const path of ['others', 'absent', '%01']) expectProblem(await release(guest, path), 'rate-limited');
    expectProblem(await release(guest, 'named', { 'if-match': '"another"' }), 'rate-limited');
    expectProblem(await service.ask('DELETE', '/v1/workspaces/nowhere/locks/named', { token: guest }), 'rate-limited');
    expect((await release(guest, 'named', { 'if-match': `"${held[1].id}"` })).status).toBe(204);
    expect((await release(guest, 'kept')).status).toBe(204);
    expect((await release(other, 'others')).status).toBe(204);
  });

  test('gains nothing by a scope that it does not have', async () => {
    const { secret } = await service.token({ scopes: ['locks:read'] });
    const statuses: number[] = [];
    for (let asked = 0; asked < 8; asked += 1) statuses.push((await release(secret, 'a')).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 429, 429]);
  });

  test('pays for a lock of others that it takes away by force', async () => {
    const { secret } = await service.token({ scopes: ['locks:admin'] });
    const other = await token();
    await take(other, 'forced');
    const answer = await service.ask('DELETE', `/v1/workspaces/${workspace}/locks/forced?force=true`, {
      token: secret,
    });
    expect([answer.status, answer.headers.get('ratelimit')]).toEqual([204, '"token";r=5;t=0']);
  });
});
