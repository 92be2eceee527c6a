import { expect, test } from 'vitest';
import type { RenewLockResult } from '../../../src/client/post-lock.ts';
import { machineClock } from '../../../src/client/time.ts';
import type { Entry } from '../../../src/locks/ledger/entry.ts';
import { renewFirst } from '../../../src/locks/renewal/first-renewal.ts';
import { ttl } from '../../client/test-client.ts';
import { errorOf, grantOf, iso, knownLock, lockOf, place, start, timedOut } from '../samples.ts';

const contextOf = (renewal: RenewLockResult, entries: Entry[] = []) => ({
  client: { isOurs: () => false, serverNow: () => start, renewLock: async () => renewal },
  record: (...all: readonly Entry[]): void => void entries.push(...all),
  clock: () => start,
  signal: undefined,
  ...place,
  ttl: ttl('1m'),
});

const granted = grantOf('a', { lock: lockOf('a', { id: 'l1' }) });

test.each([
  [true, 'a'],
  [false, undefined],
])('a first renewal without a response (may be done: %s) may have changed %s', async (mayBeDone, path) => {
  const result = await renewFirst(contextOf({ kind: 'failed', error: errorOf(timedOut), mayBeDone }), [granted]);
  expect(result).toMatchObject({ grants: [granted], failure: expect.any(String), unanswered: path });
});

test('a first renewal that moves the start of the lock returns and records that start', async () => {
  const entries: Entry[] = [];
  const lock = { ...knownLock('a'), ...lockOf('a', { id: 'l1', acquired_at: iso(5_000) }), etag: undefined };
  const { grants } = await renewFirst(contextOf({ kind: 'renewed', lock }, entries), [granted]);
  const expected = [{ lock: { acquired_at: iso(5_000) } }];
  expect([grants, entries]).toMatchObject([expected, expected]);
});

test.each([
  ['made', true, 1],
  ['only found, which may be that of another job', false, 0],
])('a first renewal that returns a lock that it %s shows that the service cannot renew', async (_, isNew, recorded) => {
  const entries: Entry[] = [];
  const lock = { ...knownLock('a'), ...lockOf('a', { id: 'l2', expires_at: iso(60_000) }), etag: undefined };
  const { refusal } = await renewFirst(contextOf({ kind: 'replaced', lock, isNew }, entries), [granted]);
  expect(refusal).toBe('It granted another lock instead.');
  expect(entries).toHaveLength(recorded);
  const lasting = machineClock() + 50_000;
  expect(entries.every((entry) => entry.kind === 'granted' && (entry.renewedUntil ?? 0) > lasting)).toBe(true);
});
