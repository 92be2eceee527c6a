import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { type RecordedQuery, recording } from '../../support/query-plan.ts';
import { startDeliveryWorkers } from './delivery-workers.ts';
import { hookedStorage } from './hooked-storage.ts';

describe.each(databaseKinds)('looking for deliveries on $name', (kind) => {
  const { storage, acquire, hook } = hookedStorage(kind);

  test('does not happen at events while no webhook is registered', async () => {
    const queries: RecordedQuery[] = [];
    const worker = startDeliveryWorkers({ ...storage, read: recording(storage.read, queries) }, { pollMs: 3_600_000 });
    await expect.poll(() => queries.length).toBe(1);
    for (const path of ['a', 'b']) {
      await acquire(path);
      worker.wake();
    }
    expect(queries).toHaveLength(1);

    await hook('https://receiver.example.com/');
    worker.hooksChanged();
    await expect.poll(() => queries.length).toBe(2);
    await acquire('c');
    worker.wake();
    await expect.poll(() => queries.length).toBeGreaterThan(2);
  });
});
