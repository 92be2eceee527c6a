import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { changeBacklogs, maxWaitingDeliveries } from '../../../src/service/outbox/outbox.ts';
import { listHooks, removeHook } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { measured } from '../../support/measured.ts';
import { runs } from '../../support/runs.ts';
import { actor, hookedStorage } from './hooked-storage.ts';

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

  test('a lock stays fast while a webhook has a full queue of deliveries', async () => {
    const [full, other] = [await hook(url), await hook('https://b.example.com/')];
    const many = runs(5_000, maxWaitingDeliveries);
    const numbers = `select 1 as n union all select n + 1 from numbers where n < ${many}`;
    await storage.commit('global', async (db) => {
      await sql`insert into deliveries (id, hook_id, ordering_key, event, attempts, next_attempt_at, created_at)
        with recursive numbers as (${sql.raw(numbers)})
        select 'msg_' || n, ${full}, 'lock:' || n, '{}', 0, 8000000000000, 0 from numbers`.execute(db);
    });
    await fill(full, 0);
    const begun = performance.now();
    for (let number = 0; number < 100; number += 1) await acquire(`file-${number}`);
    const took = performance.now() - begun;
    expect(await overview(full)).toMatchObject({ pending_deliveries: maxWaitingDeliveries, dropped_events: 100 });
    expect(await overview(other)).toMatchObject({ pending_deliveries: 100, dropped_events: 0 });
    measured('a lock, with a full delivery queue (ms)', took / 100, { atMost: runs(100, 50) });
    const removedAt = performance.now();
    await storage.commit('global', (db) => removeHook(db, storage.now, { workspace: 'game', id: full, actor }));
    measured('the removal of a hook with a full delivery queue (ms)', performance.now() - removedAt, { atMost: 5_000 });
    expect(await waiting(full)).toBe(0);
  });
});
