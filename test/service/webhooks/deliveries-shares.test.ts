import pino from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { maxUnprovenPerWorkspace } from '../../../src/service/webhooks/delivery-slots.ts';
import { startDeliveries } from '../../../src/service/webhooks/delivery-worker.ts';
import { recordEvent } from '../../../src/service/webhooks/outbox.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { localCheck, receiver } from './delivering.ts';
import { hookedStorage } from './hooked-storage.ts';
import { patient } from './patience.ts';
import { succeeded } from './samples.ts';

describe.each(realDatabaseKinds)('the shares of several instances on $name', (kind) => {
  const hooked = hookedStorage(kind);

  test('a delivery of another workspace goes out while all receivers of one stay silent, to each no more than one an instance', async () => {
    const { storage, hook, acquire } = hooked();
    const instances = 2;
    const silent = await Promise.all(Array.from({ length: 40 }, () => receiver()));
    for (const each of silent) {
      each.behave({ does: 'hang' });
      await hook(each.url());
    }
    for (const path of ['a', 'b', 'c']) await acquire(path);
    await storage.commit('global', (db) =>
      addWorkspace(db, storage.now, { id: 'film', remote: 'https://git.example.com/film.git' }),
    );
    const quick = await receiver();
    await hook(quick.url(), { workspace: 'film' });

    for (let instance = 0; instance < instances; instance += 1) {
      const worker = startDeliveries({
        storage,
        targets: localCheck,
        metrics: createMetrics(),
        log: pino({ level: 'silent' }),
        pollMs: 20,
        onError: (error) => expect.fail(String(error)),
        // Whoever waits for a silent receiver to give up waits for longer than this test may take.
        terms: { timeoutMs: 600_000, renewEveryMs: 10_000, schedule: () => 0 },
      });
      onTestFinished(() => worker.stop());
    }
    const attempts = () => silent.map(({ deliveries }) => deliveries.length);
    const underWay = () => attempts().reduce((sum, each) => sum + each, 0);
    await expect.poll(underWay, patient).toBe(instances * maxUnprovenPerWorkspace);

    const { id: _, ...event } = { ...succeeded, workspace: 'film' };
    for (let number = 0; number < 10; number += 1) {
      await storage.commit('global', (db) =>
        recordEvent(db, storage.now, event, { orderingKey: 'main', branch: 'main' }),
      );
      await quick.nextDelivery();
    }
    expect(underWay()).toBe(instances * maxUnprovenPerWorkspace);
    expect(Math.max(...attempts())).toBeLessThanOrEqual(instances);
  });
});
