import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepLocks } from '../../src/cli/session.ts';
import type { Client } from '../../src/client/client.ts';
import type { AcquiredLock } from '../../src/client/known-lock.ts';
import type { Ttl } from '../../src/interface/duration.ts';
import { ttl } from '../client/test-client.ts';
import { commandSession, errorOf, grantOf, knownLock, lockOf, refused } from '../locks/samples.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ttlMs = 2_000;
const sleep = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => resolve());
  });

/** A session with a lock on one path. */
function holding(client: Pick<Client, 'serverNow' | 'renewLock'>, its: Ttl, acquired_at: string, expires_at: string) {
  const session = commandSession(client, its);
  const lock = lockOf('a', { id: 'lock_a', acquired_at, expires_at });
  session.ledger.record(grantOf('a', { step: session.step, at: acquired_at, lock }));
  return session;
}

/**
 * Keeps a lock with a ttl of 2 s. Its renewals take this long, and `Date` in their responses is ahead of the clock of
 * the service. All times but the intervals of the checks pass this much faster. Returns the time left at its loss.
 */
async function keeping(
  renewalMs: number,
  lastsMs: number,
  { dateAheadMs = 0, speed = 1, canRenew = true },
): Promise<readonly number[]> {
  const startedAt = Date.now();
  const clock = () => startedAt + (Date.now() - startedAt) * speed;
  const isoIn = (ms: number): string => new Date(clock() + ms * speed).toISOString();
  const client: Pick<Client, 'serverNow' | 'renewLock'> = {
    serverNow: () => clock() + dateAheadMs,
    async renewLock({ path }) {
      await sleep(renewalMs);
      const expires_at = isoIn(ttlMs);
      const lock: AcquiredLock = { ...knownLock(path), ...lockOf(path, { id: 'lock_a', expires_at }), etag: undefined };
      return { kind: 'renewed', lock };
    },
  };
  const session = holding(client, ttl(`${2 * speed}s`), isoIn(0), isoIn(ttlMs));
  // The latest time of a renewal.
  const context = {
    ...{ ...session.context, clock, random: () => 0 },
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms / speed, signal),
  };
  const left: number[] = [];
  const times = { requestTimeoutMs: 1_000, marginMs: (ttlMs * speed) / 4, grantedAt: startedAt, canRenew };
  const stop = keepLocks({ ...session, context }, times, (_, msLeft) => left.push(msLeft));
  await vi.advanceTimersByTimeAsync(lastsMs);
  void stop();
  await vi.advanceTimersByTimeAsync(ttlMs);
  return left;
}

test('a command whose machine was suspended renews its locks at once, and notices that they are lost', async () => {
  const [suspendedAtMs, spanMs] = [1_000, 3_600_000];
  vi.useFakeTimers({ now: 0 });
  const renewedAt: number[] = [];
  const client: Pick<Client, 'serverNow' | 'renewLock'> = {
    serverNow: () => Date.now(),
    async renewLock() {
      renewedAt.push(performance.now() - startedAt);
      return { kind: 'lost', holder: undefined, error: errorOf(refused(412)) };
    },
  };
  const startedAt = performance.now();
  const iso = (ms: number): string => new Date(ms).toISOString();
  const session = holding(client, ttl('1m'), iso(0), iso(60_000));
  const context = { ...session.context, clock: () => performance.now(), random: () => 0, sleep };
  const onLost = vi.fn();
  const times = { requestTimeoutMs: 1_000, marginMs: 1_000, grantedAt: startedAt, canRenew: true };
  const stop = keepLocks({ ...session, context }, times, onLost);
  await vi.advanceTimersByTimeAsync(suspendedAtMs);
  expect(renewedAt).toEqual([]);
  vi.setSystemTime(suspendedAtMs + spanMs);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(renewedAt).toHaveLength(1);
  expect(onLost).toHaveBeenCalledOnce();
  void stop();
  await vi.advanceTimersByTimeAsync(5_000);
});

test('a command with a short ttl keeps its lock if each renewal takes 0.8 s', async () => {
  expect(await keeping(800, 20_000, {})).toEqual([]);
});

test('a command that runs for a week keeps its lock', async () => {
  expect(await keeping(1, 3 * 7_000, { speed: (24 * 3_600) / 3 })).toEqual([]);
});

test.each([-3_600_000, 3_600_000])(
  'a command keeps its lock if a gateway sets a date that is %i ms off',
  async (ms) => {
    expect(await keeping(100, 20_000, { dateAheadMs: ms })).toEqual([]);
  },
);

test.each([
  ['whose renewal has no response', true, 10_000],
  ['of a service that cannot renew', false, 0],
])('a lock %s is lost while there is time to stop the command', async (_, canRenew, renewalMs) => {
  const [msLeft] = await keeping(renewalMs, 3_000, { canRenew });
  expect(msLeft).toBeGreaterThan(100);
  expect(msLeft).toBeLessThan(ttlMs / 4);
});
