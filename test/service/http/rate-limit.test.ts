import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter, type RateLimit } from '../../../src/service/http/rate-limit.ts';
import { type ListeningServer, startServer } from '../../../src/service/http/server.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import type { TestDatabase } from '../../support/databases.ts';
import { ask, type Reply } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { describedApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';

/** A limiter, and the clock that it reads. */
function limiter(limit: RateLimit) {
  let now = 1_000_000;
  const admit = createRateLimiter(limit, () => now);
  return {
    admit,
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
  const { admit, wait } = limiter({ perSecond: 1, burst: 3 });

  beforeAll(async () => {
    database = await kind.open();
    server = await startServer(describedApp({ storage: database.storage, admit }), '127.0.0.1', 0);
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
