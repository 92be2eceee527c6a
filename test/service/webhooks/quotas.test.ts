import { describe, expect, test } from 'vitest';
import { changeBacklogs, maxWaitingDeliveries } from '../../../src/service/outbox/outbox.ts';
import { listHooks } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { hookedStorage } from './hooked-storage.ts';

const url = 'https://a.example.com/';

describe.each(databaseKinds)('the quotas of hooks on $name', (kind) => {
  const { hook, acquire, claim, settle, deliveries, storage } = hookedStorage(kind);

  /** Makes the queue of the hook full, except for this number of deliveries. */
  const fill = (hook: string, except: number) =>
    storage.commit('global', (db) =>
      changeBacklogs(db, storage.now, [{ hookId: hook, added: maxWaitingDeliveries - except, dropped: 0 }]),
    );

  const overview = async (hook: string) => {
    const found = (await listHooks(storage.read, 'game')).find(({ id }) => id === hook);
    if (found === undefined) throw new Error('There is no such hook.');
    return found;
  };

  const waiting = async (hook: string): Promise<number> =>
    (await deliveries()).filter(({ hook_id }) => hook_id === hook).length;

  test('drops and counts events for a hook with a full queue, while other hooks get them', async () => {
    const full = await hook(url);
    await fill(full, 3);
    for (const path of ['a', 'b', 'c']) await acquire(path);
    expect((await overview(full)).dropped_events).toBe(0);
    const empty = await hook('https://b.example.com/');
    for (const path of ['d', 'e']) await acquire(path);
    expect(await waiting(full)).toBe(3);
    expect(await waiting(empty)).toBe(2);
    expect(await overview(full)).toMatchObject({ pending_deliveries: maxWaitingDeliveries, dropped_events: 2 });
    expect((await overview(empty)).dropped_events).toBe(0);

    // New events are recorded as soon as there is room.
    await settle(await claim(), { kind: 'delivered' });
    await acquire('f');
    expect(await waiting(full)).toBe(3);
    expect((await overview(full)).dropped_events).toBe(2);
  });
});
