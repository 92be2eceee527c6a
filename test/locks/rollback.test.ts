import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { maxConnections } from '../../src/client/connection.ts';
import { steadyClock } from '../../src/client/time.ts';
import { endWholeLease } from '../../src/locks/end-lease.ts';
import type { Entry } from '../../src/locks/ledger/entry.ts';
import { cleanupLimits, rollBack } from '../../src/locks/release.ts';
import { lockPath } from '../client/test-client.ts';
import {
  commandSession,
  end,
  errorOf,
  grantOf,
  iso,
  knownLock,
  lockOf,
  place,
  start,
  terms,
  timedOut,
} from './samples.ts';

describe('the time of a cleanup', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is 3.5 s for all of a cancelled step together, and those of other steps have their own', () => {
    const cancelled = AbortSignal.abort();
    const first = cleanupLimits(steadyClock, 10_000, cancelled);
    vi.advanceTimersByTime(3_000);
    const second = cleanupLimits(steadyClock, 10_000, cancelled);
    const other = cleanupLimits(steadyClock, 10_000, AbortSignal.abort());
    vi.advanceTimersByTime(500);
    expect([first, second, other].map(({ signal }) => signal?.aborted)).toEqual([true, true, false]);
  });

  test('is short only after a cancellation', () => {
    const cancellation = new AbortController();
    const { signal } = cleanupLimits(steadyClock, 10_000, cancellation.signal);
    vi.advanceTimersByTime(9_000);
    expect(signal?.aborted).toBe(false);
    cancellation.abort();
    vi.advanceTimersByTime(3_500);
    expect(signal?.aborted).toBe(true);
  });
});

test('does not repeat a release that may have been done, if the lock cannot be distinguished from a later one', async () => {
  const events: string[] = [];
  let areListed = true;
  const error = errorOf(timedOut);
  const client: Partial<Client> = {
    serverNow: () => Date.parse(end) - 60_000,
    async listLocks() {
      events.push('look');
      const items = areListed ? [knownLock('a')] : [];
      return { items, incomplete: areListed ? undefined : 'The service is down.' };
    },
    async releaseLock() {
      events.push('send');
      areListed = false;
      return { kind: 'failed', error, mayBeDone: true };
    },
  };
  const context = {
    // A rollback sends no other requests.
    ...{ client: client as Client, record: () => undefined, signal: new AbortController().signal },
    ...{ clock: () => 0, sleep: async () => undefined, random: () => 0.5 },
  };
  const grant = grantOf('a', { lock: { path: lockPath('a'), type: 'exclusive', expires_at: end } });
  const left = await rollBack(context, [{ grant }], { deadline: 1 });
  expect(left).toEqual([{ grant, error, mayBeReleased: true }]);
  areListed = true;
  expect(await rollBack(context, left, { deadline: 1 })).toEqual([{ grant, error: undefined }]);
  expect(events).toEqual(['look', 'send', 'look', 'look']);
});

test('a command reports a lock that it cannot release because nothing identifies it', async () => {
  const client: Partial<Client> = {
    serverNow: () => start,
    listLocks: async () => ({ items: [knownLock('a')], incomplete: undefined }),
  };
  const reported: string[] = [];
  const session = commandSession(client, terms.ttl, (line) => reported.push(line));
  // Its lifetime may have ended already.
  session.ledger.record(grantOf('a', { lock: lockOf('a', { expires_at: iso(1_000) }) }));
  expect(await session.releaseAll(1_000)).toEqual({ isReleased: false, hasLost: false });
  expect(reported).toEqual([
    expect.stringMatching(/^Could not release the lock on a: The current lock may belong to another job/),
  ]);
});

test.each([
  [false, 'releasing, failed'],
  [true, 'releasing'],
])('the failed end of a whole lease (may be done: %s) is last recorded as %s', async (mayBeDone, last) => {
  const paths = Array.from({ length: maxConnections + 1 }, (_, index) => `p${index}`);
  const grants = paths.map((path) => grantOf(path, { lock: lockOf(path, { id: path }) }));
  const client = {
    serverNow: () => start,
    listLease: async () => ({ items: paths.map((path) => knownLock(path, { id: path })), incomplete: undefined }),
    endLease: async () => ({ kind: 'failed', error: errorOf(timedOut), mayBeDone }) as const,
  };
  const entries: Entry[] = [];
  const context = { client, record: (...all: readonly Entry[]) => void entries.push(...all), clock: () => start };
  const locks = grants.map((grant) => ({ grant, mayBeReleased: false }));
  await endWholeLease(context, { ...place, lease: 's' }, locks, { deadline: start + 1 });
  const told = entries.map((entry) => ('failed' in entry && entry.failed ? 'releasing, failed' : entry.kind));
  expect(new Set(told.slice(-grants.length))).toEqual(new Set([last]));
});
