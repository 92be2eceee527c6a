import { expect, test } from 'vitest';
import { parseTtl } from '../../../src/interface/duration.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { createIdempotency } from '../../../src/service/idempotency/idempotency.ts';
import { createLocks } from '../../../src/service/locks/locks.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { valueIn } from '../../support/value-in.ts';
import { bearerOf } from './taken-locks.ts';

const shared = sharedStorage(sqlite, { workspaces: ['game'] });

test('a request that a quota refuses is counted once its change is committed, and not if that fails', async () => {
  let fails = true;
  const storage: Storage = {
    ...shared,
    batchCommits: (scopeOf, make) =>
      shared.batchCommits(scopeOf, async (db, changes) => {
        const results = await make(db, changes);
        if (fails) throw new Error('The disk is full.');
        return results;
      }),
  };
  const metrics = createMetrics();
  const refused = async () => (await metrics.refusedLocks.get()).values.map(({ value }) => value);
  const locks = createLocks({
    ...{ storage, metrics, idempotency: createIdempotency(storage) },
    quotas: { maxLocks: 0, maxLocksPerOwner: 0 },
    onError: () => undefined,
  });
  const acquire = () =>
    locks.acquire(undefined, {
      ...{ workspace: 'game', path: valueIn(parseLockPath('a')), type: 'exclusive', ttl: valueIn(parseTtl('1h')) },
      ...{ bearer: bearerOf('ada'), origin: null, compare: async () => ({ latest: 'off', outdated: [] }) },
    });
  await expect(acquire()).rejects.toThrow('The disk is full.');
  expect(await refused()).toEqual([0]);
  fails = false;
  expect(await acquire()).toMatchObject({ kind: 'refused', refusal: { problem: 'quota-exceeded' } });
  expect(await refused()).toEqual([1]);
});
