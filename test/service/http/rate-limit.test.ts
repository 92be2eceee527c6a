import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter, type RateLimit } from '../../../src/service/access/access.ts';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import { databaseKinds } from '../../support/databases.ts';
import type { Reply } from '../../support/running-service.ts';
import { shippedRateLimit } from '../../support/shipped-settings.ts';
import { serveApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { type Locks, locksOf, sharedService, words } from './shared-service.ts';

/** A rate limiter with its own clock. */
function limiter(limit: RateLimit) {
  let now = 1_000_000;
  const rateLimiter = createRateLimiter(limit, () => now);
  return {
    rateLimiter,
    charge: rateLimiter.charge,
    ratelimit: (tokenId: string) => rateLimiter.headersOf(tokenId)['ratelimit'],
    wait(seconds: number) {
      now += seconds * 1_000;
    },
  };
}

describe('the rate limiter', () => {
  test('admits everything and sends no headers if there is no limit', () => {
    const { charge, rateLimiter } = limiter(null);
    for (let asked = 0; asked < 1_000; asked += 1) expect(charge('a')).toBe(0);
    expect(rateLimiter.headersOf('a')).toEqual({});
  });

  test('remembers a token that has used up its limit, even among 20,000 others', () => {
    const { charge, wait } = limiter({ perSecond: 1, burst: 2 });
    for (let token = 0; token < 20_000; token += 1) charge(`token ${token}`);
    wait(1.9);
    charge('busy');
    charge('busy');
    wait(1.5);
    for (let token = 0; token < 20_000; token += 1) charge(`other ${token}`);
    expect([charge('busy'), charge('busy')]).toEqual([0, 1]);
  });

  test('does not limit eight jobs with 3,000 paths each that share a token, however fast they are', () => {
    const { charge, ratelimit } = limiter(shippedRateLimit);
    for (let asked = 0; asked < 8 * 3_000; asked += 1) expect(charge('shared')).toBe(0);
    expect(ratelimit('shared')).toBe('"token";r=36000;t=0');
  });

  const limits = fc.record({
    perSecond: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
    burst: fc.integer({ min: 1, max: 100 }),
  });
  const waits = fc.array(fc.double({ min: 0, max: 0.5, noNaN: true }), { maxLength: 300 });

  test('never admits more than the burst plus the rate, and always after the time in Retry-After', () => {
    fc.assert(
      fc.property(limits, waits, (limit, pauses) => {
        const { charge, wait } = limiter(limit);
        let [admitted, elapsed] = [0, 0];
        for (const pause of pauses) {
          wait(pause);
          elapsed += pause;
          const seconds = charge('a');
          if (seconds > 0) {
            expect(seconds).toBeGreaterThanOrEqual(1);
            wait(seconds);
            elapsed += seconds;
            expect(charge('a')).toBe(0);
          }
          admitted += 1;
          expect(admitted).toBeLessThanOrEqual(limit.burst + elapsed * limit.perSecond + 1e-6);
        }
      }),
    );
  });
});

describe('a token that exceeds its rate limit', () => {
  const { rateLimiter, wait } = limiter({ perSecond: 1, burst: 3 });
  let server: Awaited<ReturnType<typeof serveApp>>;
  beforeAll(async () => {
    server = await serveApp({ rateLimiter });
  });
  afterAll(() => server.stop());

  const get = (path: string, token: string): Promise<Reply> => server.ask('GET', path, { token });

  test('is refused with Retry-After and admitted after that time, without affecting other tokens', async () => {
    const [busy, other] = [await server.token(), await server.token()];
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

  test('is also charged for refused requests and for metrics, and problems show its remaining limit', async () => {
    const secret = await server.token('sync');
    const first = await get('/v1/workspaces/w/locks', secret);
    expectProblem(first, 'insufficient-scope');
    expect(first.headers.get('ratelimit')).toBe('"token";r=2;t=0');
    const statuses: number[] = [];
    for (const path of ['/metrics', '/v1/workspaces/w/branches', '/v1/workspaces']) {
      statuses.push((await get(path, secret)).status);
    }
    expect(statuses).toEqual([200, 404, 429]);
  });
});

describe.each(databaseKinds)('a token that has used up its rate limit, on $name', (kind) => {
  /** The rate is too slow to refill the limit during a test. */
  const service = sharedService(kind, { rateLimit: { perSecond: 0.001, burst: 6 } });
  const newToken = (scope: Scope = 'locks:write') => service.token({ name: randomUUID(), scopes: [scope] });
  const ofNewToken = async (scope?: Scope): Promise<Locks> =>
    locksOf(service, service.home, (await newToken(scope)).secret);

  test('can still release locks, its own and by force, and gets the same errors as before', async () => {
    const { take, release } = await ofNewToken('locks:admin');
    await (await ofNewToken()).take('others');
    const paths = words('1 2 3 4 5 6');
    for (const path of paths) expect((await take(path)).status).toBe(201);
    expectProblem(await take('one-too-many'), 'rate-limited');
    expectProblem(await release('others'), 'lock-of-another-owner');
    for (const path of paths) {
      const first = await release(path);
      expect(first.status).toBe(204);
      expect(first.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/);
      // As many requests as that may release nothing.
      expectProblem(await release(path), path === '6' ? 'rate-limited' : 'not-found');
    }
    expect((await release('others', {}, '?force=true')).status).toBe(204);
  });

  test('can still end its leases, and repeat that as often as the limit says', async () => {
    const { secret: token } = await newToken();
    const ask = (method: 'PUT' | 'DELETE', id: string, json?: object) =>
      service.ask(method, `/v1/workspaces/${service.home}/leases/${id}`, { token, json });
    const ids = Array.from({ length: 6 }, () => randomUUID());
    for (const id of ids) await ask('PUT', id, { paths: [id], type: 'exclusive', ttl: '1h' });
    for (const id of ids) {
      expect((await ask('DELETE', id)).body.released).toEqual([id]);
      expect((await ask('DELETE', id)).body.released).toEqual([id]);
    }
    expectProblem(await ask('DELETE', ids[0] ?? ''), 'rate-limited');
  });

  test('can unlock with Git LFS only what exists', async () => {
    const { secret: token } = await newToken();
    const unlock = () =>
      service.ask('POST', `/v1/workspaces/${service.home}/lfs/locks/${randomUUID()}/unlock`, { token, json: {} });
    const statuses: number[] = [];
    for (let asked = 0; asked < 7; asked += 1) statuses.push((await unlock()).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 429]);
  });

  test('cannot end leases that nobody has requested, also not by asking for many at once', async () => {
    const { secret: token } = await newToken();
    const end = (id: string) => service.ask('DELETE', `/v1/workspaces/${service.home}/leases/${id}`, { token });
    const replies = await Promise.all(Array.from({ length: 40 }, () => end(randomUUID())));
    expect(replies.filter(({ status }) => status === 204)).toHaveLength(6);
  });

  test('gains no further releases if it lacks the scope for them', async () => {
    const { release } = await ofNewToken('locks:read');
    const statuses: number[] = [];
    for (let asked = 0; asked < 8; asked += 1) statuses.push((await release('a')).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 429, 429]);
  });
});
