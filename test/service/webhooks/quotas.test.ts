import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { changeBacklogs } from '../../../src/service/outbox/backlog.ts';
import { defaultHookQuotas, setHookQuotas } from '../../../src/service/outbox/hook-quotas.ts';
import { listHooks } from '../../../src/service/webhooks/hook-overview.ts';
import { measured } from '../../soak/measured.ts';
import { databaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { hookedStorage } from './hooked-storage.ts';

const url = 'https://a.example.com/';

describe.each(databaseKinds)('the quotas of hooks on $name', (kind) => {
  const { hook, acquire, claim, settle, deliveries, storage } = hookedStorage(kind);

  afterEach(() => setHookQuotas(storage, defaultHookQuotas));

  const limitTo = (maxWaitingDeliveries: number) =>
    setHookQuotas(storage, { ...defaultHookQuotas, maxWaitingDeliveries });

  const overview = async (hook: string) => {
    const found = (await listHooks(storage.read, 'game')).find(({ id }) => id === hook);
    if (found === undefined) throw new Error('There is no such hook.');
    return found;
  };

  const waiting = async (hook: string): Promise<number> =>
    (await deliveries()).filter(({ hook_id, finished_at }) => hook_id === hook && finished_at === null).length;

  test('drops and counts events for a hook with a full queue, while other hooks get them', async () => {
    const full = await hook(url);
    await limitTo(3);
    for (const path of ['a', 'b', 'c']) await acquire(path);
    expect((await overview(full)).dropped_events).toBeNull();
    const empty = await hook('https://b.example.com/');
    for (const path of ['d', 'e']) await acquire(path);
    expect(await waiting(full)).toBe(3);
    expect(await waiting(empty)).toBe(2);
    const { pending_deliveries, dropped_events } = await overview(full);
    expect(pending_deliveries).toBe(3);
    expect(dropped_events).toMatchObject({ count: 2, is_full: true });
    expect(Date.parse(dropped_events?.since ?? '')).toBeLessThanOrEqual(Date.parse(dropped_events?.last ?? ''));
    expect((await overview(empty)).dropped_events).toBeNull();

    // New events are recorded as soon as there is room.
    await settle(await claim(), { kind: 'delivered' });
    await acquire('f');
    expect((await deliveries()).filter(({ hook_id }) => hook_id === full)).toHaveLength(4);
    expect((await overview(full)).dropped_events).toMatchObject({ count: 2 });
  });

  test('a lock stays fast while a webhook has a full queue of deliveries', async () => {
    const [full, other] = [await hook(url), await hook('https://b.example.com/')];
    const many = runs(5_000, defaultHookQuotas.maxWaitingDeliveries);
    await limitTo(many);
    const numbers = `select 1 as n union all select n + 1 from numbers where n < ${many}`;
    await storage.commit('global', async (db) => {
      await sql`insert into deliveries (id, hook_id, ordering_key, event, status, attempts, next_attempt_at, created_at)
        with recursive numbers as (${sql.raw(numbers)})
        select 'msg_' || n, ${full}, 'lock:' || n, '{}', 'pending', 0, 8000000000000, 0 from numbers`.execute(db);
      await changeBacklogs(db, storage.now, [{ hookId: full, added: many, dropped: 0 }]);
    });
    const begun = performance.now();
    for (let number = 0; number < 100; number += 1) await acquire(`file-${number}`);
    const took = performance.now() - begun;
    expect(await overview(full)).toMatchObject({ pending_deliveries: many, dropped_events: { count: 100 } });
    expect(await overview(other)).toMatchObject({ pending_deliveries: 100, dropped_events: null });
    measured('a lock, with a full delivery queue', took / 100);
  });

  test('default quotas apply if no service has set any', async () => {
    await storage.commit('global', (db) => db.deleteFrom('quotas').execute());
    for (let index = 0; index < 100; index += 1) await hook(`https://r${index}.example.com/`);
    await expect(hook('https://one-more.example.com/')).rejects.toThrow('maximum of 100 webhooks');
  });
});
