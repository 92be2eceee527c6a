import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { receiver } from './delivering.ts';
import { startDeliveryWorkers } from './delivery-workers.ts';
import { patient } from './hooked-service.ts';
import { hookedStorage } from './hooked-storage.ts';

/** SQLite stores this number, but node:sqlite does not return it as a number. */
const unsafe = 2 ** 53;

describe.each(databaseKinds)('damaged rows of webhooks on $name', (kind) => {
  const { storage, hook, acquire, setDeliveries, setHooks } = hookedStorage(kind);

  test.each<[string, () => Promise<unknown>]>([
    ['the URL of a webhook', () => setHooks({ url: 'nowhere' })],
    ['the headers of a webhook', () => setHooks({ headers: '{' })],
    ['the event of a delivery', () => setDeliveries({ event: '{' })],
    ['the time of a delivery', () => setDeliveries({ created_at: unsafe })],
  ])('do not stop deliveries to other webhooks: %s', async (_, damage) => {
    await hook('https://damaged.example.com/');
    await acquire('a');
    await damage();
    const target = await receiver();
    await hook(target.url());
    await acquire('b');
    await acquire('c');
    const { attempts } = startDeliveryWorkers(storage);
    await expect.poll(() => target.deliveries.length, patient).toBe(2);
    await expect.poll(attempts, patient).toMatchObject({ delivered: 2 });
  });

  test('do not stop other deliveries of the same webhook, and are reported', async () => {
    const target = await receiver();
    await hook(target.url());
    await acquire('a');
    await setDeliveries({ event: '{' });
    await acquire('b');
    const { attempts, log } = startDeliveryWorkers(storage);
    await expect.poll(attempts, patient).toEqual({ delivered: 1 });
    expect(log()).toContain('SyntaxError');
  });
});
