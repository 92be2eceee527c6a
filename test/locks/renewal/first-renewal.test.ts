import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import type { AcquiredLock } from '../../../src/client/known-lock.ts';
import { machineClock } from '../../../src/client/time.ts';
import type { Entry } from '../../../src/locks/ledger/entry.ts';
import { renewFirst } from '../../../src/locks/renewal/first-renewal.ts';
import { ttl } from '../../client/test-client.ts';
import { grantOf, iso, knownLock, lockOf, place, start } from '../samples.ts';

test.each([
  ['made', true, 1],
  ['only found, which may be that of another job', false, 0],
])('a first renewal that returns a lock that it %s shows that the service cannot renew', async (_, isNew, recorded) => {
  const entries: Entry[] = [];
  const lock: AcquiredLock = {
    ...{ ...knownLock('a'), ...lockOf('a', { id: 'l2', expires_at: iso(60_000) }), etag: undefined },
  };
  const client: Pick<Client, 'isOurs' | 'serverNow' | 'renewLock'> = {
    isOurs: () => false,
    serverNow: () => start,
    renewLock: async () => ({ kind: 'replaced', lock, isNew }),
  };
  const record = (...all: readonly Entry[]): void => void entries.push(...all);
  const context = { client, record, clock: () => start, signal: undefined, ...place, ttl: ttl('1m') };
  const { refusal } = await renewFirst(context, [grantOf('a', { lock: lockOf('a', { id: 'l1' }) })]);
  expect(refusal).toBe('It granted another lock instead.');
  expect(entries).toHaveLength(recorded);
  const lasting = machineClock() + 50_000;
  expect(entries.every((entry) => entry.kind === 'granted' && (entry.renewedUntil ?? 0) > lasting)).toBe(true);
});
