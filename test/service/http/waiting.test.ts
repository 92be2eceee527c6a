import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Locks as ServiceLocks } from '../../../src/service/locks/locks.ts';
import { databaseKinds, sqlite } from '../../support/databases.ts';
import { type Reply, startTestService } from '../../support/running-service.ts';
import { revoke, storeWorkspace } from '../../support/stored-rows.ts';
import { serveApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { type Locks, locksOf, pathsIn, sharedService, untilWaiting } from './shared-service.ts';

const waitFor = ({ list }: Locks, path: string, prefer = 'wait=30'): Promise<Reply> =>
  list(`?path=${path}`, { headers: { prefer } });

describe.each(databaseKinds)('waiting for a path, on $name', (kind) => {
  const service = sharedService(kind);
  let locks: Locks;
  beforeAll(() => {
    locks = locksOf(service, service.home, service.secret);
  });

  const wait = (path: string, prefer?: string) => waitFor(locks, path, prefer);
  const waiting = (count: number) => untilWaiting(service, service.secret, count);

  test('ends immediately if the path is free, and returns the applied preference', async () => {
    const response = await wait('free');
    expect([response.status, response.body]).toEqual([200, { locks: [], next_cursor: null }]);
    expect(response.headers.get('preference-applied')).toBe('wait=30');
    expect(response.headers.get('vary')).toBe('Prefer');
  });

  test('ends after the requested time, and returns the current lock', async () => {
    const { body: held } = await locks.take('held');
    const began = performance.now();
    const response = await wait('held', 'wait=1');
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(response.body).toEqual({ locks: [held], next_cursor: null });
    expect(response.headers.get('preference-applied')).toBe('wait=1');
    expect((await wait('held', 'wait=0')).headers.get('preference-applied')).toBe('wait=0');
  });

  test('ends when the ttl of the lock expires, also if the lock was renewed meanwhile', async () => {
    const { headers } = await locks.take('short');
    const began = performance.now();
    const waits = wait('short');
    await waiting(1);
    const renewed = await locks.take('short', { ttl: '1s', 'if-match': headers.get('etag') ?? '' });
    const response = await waits;
    expect(pathsIn(response)).toEqual([]);
    expect(performance.now() - began).toBeLessThan(20_000);
    const answeredAt = Date.parse(response.headers.get('date') ?? '');
    // The header has no milliseconds.
    expect(answeredAt).toBeGreaterThanOrEqual(Math.floor(Date.parse(renewed.body.expires_at) / 1_000) * 1_000);
  });

  test('lasts at most 30 s, and is logged as waited_ms', async () => {
    await locks.take('log');
    const longest = wait('log', 'wait=3600');
    await waiting(1);
    await locks.release('log');
    const { headers } = await longest;
    expect(headers.get('preference-applied')).toBe('wait=30');
    const lines = service.log().split('\n');
    const line = lines.find((text) => text.includes(headers.get('x-request-id') ?? ''));
    expect(JSON.parse(line ?? '')).toMatchObject({ status: 200, waited_ms: expect.any(Number), msg: 'request' });
  });

  test('does not start without a path, with a prefix, owner or cursor, or with another preference', async () => {
    const { body: kept } = await locks.take('kept');
    for (const [query, prefer] of [
      ['', 'wait=30'],
      [`?path=kept&owner=${encodeURIComponent(kept.owner)}`, 'wait=30'],
      ['?path=kept&prefix=k', 'wait=30'],
      [`?path=kept&cursor=${Buffer.from('a').toString('base64url')}`, 'wait=30'],
      ['?path=kept', 'wait=soon'],
      ['?path=kept', 'respond-async'],
    ] as const) {
      const response = await locks.list(query, { headers: { prefer } });
      expect([response.status, response.headers.get('preference-applied')]).toEqual([200, null]);
      expect(pathsIn(response)).toContain('kept');
    }
  });

  test('requires access to the locks, and ends with an error if the token is revoked', async () => {
    await locks.take('secret');
    const waitWith = ({ secret }: { readonly secret: string }) =>
      waitFor(locksOf(service, service.home, secret), 'secret');
    const elsewhere = await service.token({ workspaces: [await service.workspace()] });
    expectProblem(await waitWith(elsewhere), 'not-found');
    expectProblem(await waitWith(await service.token({ scopes: ['sync'] })), 'insufficient-scope');
    const revoked = await service.token();
    const refused = waitWith(revoked);
    await waiting(1);
    await revoke(service.storage, revoked.id);
    await locks.release('secret');
    expectProblem(await refused, 'unauthorized');
  });
});

test('clients that wait for a path are answered when the service stops', async () => {
  const service = await startTestService(sqlite);
  const { secret } = await service.token();
  const locks = locksOf(service, await service.workspace(), secret);
  await locks.take('a');
  const waits = Array.from({ length: 20 }, () => waitFor(locks, 'a'));
  await untilWaiting(service, secret, 20);
  const began = performance.now();
  await service.stop();
  for (const response of await Promise.all(waits)) expect([response.status, pathsIn(response)]).toEqual([200, ['a']]);
  // Without the stop they would have waited for 30 s.
  expect(performance.now() - began).toBeLessThan(25_000);
});

test('a complete request may wait for a path for longer than the request timeout of the server', async () => {
  // The request uses nothing else of them.
  const locks = {
    waitUntilFree: () => new Promise((resolve) => setTimeout(resolve, 3_000, 'turn')),
  } as Partial<ServiceLocks> as ServiceLocks;
  const server = await serveApp({ locks }, { timeouts: { headersMs: 2_000, requestMs: 2_000, checkEveryMs: 20 } });
  onTestFinished(server.stop);
  const { storage } = server;
  await storeWorkspace(storage, { id: 'game' });
  const response = await waitFor(locksOf(server, 'game', await server.token('locks:read')), 'a');
  expect([response.status, response.headers.get('preference-applied')]).toEqual([200, 'wait=30']);
});
