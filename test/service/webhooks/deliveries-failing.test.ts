import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import type { Resolve } from '../../../src/service/webhooks/target-address.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import type { Behaviour } from '../../support/webhook-receiver.ts';
import { checking, receiver } from './delivering.ts';
import { attemptNext, startDeliveryWorkers } from './delivery-workers.ts';
import { idOf, verified } from './hooked-service.ts';
import { hookedStorage, secret } from './hooked-storage.ts';
import { patient } from './patience.ts';

const ok: Behaviour = { does: 'answer', status: 204 };
const failing: Behaviour = { does: 'answer', status: 500 };

const minute = 60_000;
const hour = 60 * minute;

describe.each(realDatabaseKinds)('deliveries that fail, on $name', (kind) => {
  const hooked = hookedStorage(kind);

  const makeDue = () =>
    hooked().storage.commit('global', (db) =>
      db.updateTable('deliveries').set({ next_attempt_at: 0 }).where('next_attempt_at', 'is not', null).execute(),
    );

  const statuses = async () => (await hooked().deliveries()).map(({ status }) => status);

  const databaseTime = async () => {
    const { storage } = hooked();
    const { at } = await storage.read
      .selectFrom('fences')
      .select(storage.now.as('at'))
      .limit(1)
      .executeTakeFirstOrThrow();
    return at;
  };

  /** How long the delivery waits for its next attempt. */
  async function untilNextAttempt(): Promise<number | undefined> {
    const [delivery] = await hooked().deliveries();
    return delivery?.next_attempt_at == null ? undefined : delivery.next_attempt_at - (await databaseTime());
  }

  test('a receiver that fails in every way and then recovers gets the delivery, each time with the same id', async () => {
    const { hook, acquire, storage } = hooked();
    const [target, elsewhere] = [await receiver(), await receiver()];
    const ways: Behaviour[] = [
      failing,
      { does: 'answer', status: 503 },
      { does: 'answer', status: 404 },
      { does: 'answer', status: 429, headers: { 'retry-after': '0' } },
      { does: 'answer', status: 301, headers: { location: elsewhere.url('/moved') } },
      { does: 'answer', status: 302, headers: { location: elsewhere.url('/found') } },
      { does: 'answer', status: 307, headers: { location: elsewhere.url('/temporary') } },
      { does: 'answer', status: 308, headers: { location: elsewhere.url('/permanent') } },
      { does: 'reset' },
      { does: 'say', text: 'this is not HTTP\r\n\r\n' },
      { does: 'hang' },
      { does: 'drip', part: 'head' },
    ];
    target.behave(failing, ...ways, ok);
    await hook(target.url());
    const lock = await acquire('a');
    const { attempts } = startDeliveryWorkers(storage, { terms: { timeoutMs: 300 } });
    await expect.poll(statuses, patient).toEqual(['delivered']);

    expect(target.deliveries).toHaveLength(ways.length + 2);
    expect(new Set(target.deliveries.map(idOf)).size).toBe(1);
    for (const delivery of target.deliveries) {
      expect(verified(secret, delivery)).toMatchObject({ type: 'lock.acquired', data: { lock } });
    }
    expect(elsewhere.connections()).toBe(0);
    expect(await attempts()).toEqual({ delivered: 1, retry: ways.length + 1 });
    const [delivery] = await hooked().deliveries();
    expect(delivery).toMatchObject({ attempts: ways.length + 2, last_error: null });
  });

  test('attempts follow the schedule of Standard Webhooks, and end with it', async () => {
    const { hook, acquire, release, storage } = hooked();
    const target = await receiver();
    target.behave(failing);
    await hook(target.url());
    await acquire('a');
    await release('a');
    const delays = [5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
    for (const delay of delays) {
      expect(await attemptNext(storage)).toBe(true);
      expect(await attemptNext(storage)).toBe(false);
      const wait = (await untilNextAttempt()) ?? 0;
      // What is below is the time that the test itself takes, on a busy machine.
      expect(wait).toBeGreaterThan(delay - 4_000);
      expect(wait).toBeLessThanOrEqual(delay * 1.1 + 1);
      await makeDue();
    }
    expect(await statuses()).toEqual(['pending', 'pending']);
    await attemptNext(storage);
    expect(await statuses()).toEqual(['failed', 'pending']);
    expect(target.deliveries).toHaveLength(10);

    target.behave(ok);
    expect(await attemptNext(storage)).toBe(true);
    expect(await statuses()).toEqual(['failed', 'delivered']);
    expect(JSON.parse(target.deliveries.at(-1)?.body ?? '')).toMatchObject({ type: 'lock.released' });
  });

  test('a receiver that asks for more time gets it', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    target.behave({ does: 'answer', status: 429, headers: { 'retry-after': '3600' } }, ok);
    await hook(target.url());
    await acquire('a');
    await attemptNext(storage);
    expect(await untilNextAttempt()).toBeGreaterThan(hour - minute);
    expect(await untilNextAttempt()).toBeLessThanOrEqual(hour);
    await makeDue();
    await attemptNext(storage);
    expect(await statuses()).toEqual(['delivered']);
    expect(new Set(target.deliveries.map(idOf)).size).toBe(1);
  });

  test('each attempt is signed anew, for the time at which it is made', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    target.behave(failing);
    await hook(target.url());
    await acquire('a');
    await storage.commit('global', (db) => db.updateTable('deliveries').set({ created_at: 0 }).execute());
    await attemptNext(storage);
    const { headers, body } = await target.nextDelivery();
    // Receivers refuse a signature that is older than a few minutes.
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(60);
    expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
  });

  test('410 puts the hook to sleep, drops what waits for it, and nothing more is sent', async () => {
    const { hook, acquire, release, storage } = hooked();
    const [target, other] = [await receiver(), await receiver()];
    target.behave({ does: 'answer', status: 410 });
    const id = await hook(target.url());
    await acquire('a');
    await acquire('b');
    await release('a');
    await attemptNext(storage);

    await hook(other.url());
    const { attempts } = startDeliveryWorkers(storage);
    await release('b');
    await expect.poll(attempts, patient).toEqual({ delivered: 1 });
    expect([target.deliveries.length, other.deliveries.length]).toEqual([1, 1]);
    const ofTheHook = (await hooked().deliveries()).filter(({ hook_id }) => hook_id === id);
    expect(ofTheHook.map(({ status }) => status)).toEqual(['failed', 'dropped', 'dropped']);
    const row = await storage.read.selectFrom('hooks').select('active').where('id', '=', id).executeTakeFirstOrThrow();
    expect(row).toEqual({ active: 0 });

    target.behave(ok);
    await hook(target.url());
    await acquire('c');
    await expect.poll(() => target.deliveries.length, patient).toBe(2);
  });

  test('410 to what was sent before the hook was registered again does not put it to sleep', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    target.behave({ does: 'answer', status: 410 }, ok);
    const id = await hook(target.url());
    await acquire('a');
    await acquire('b');
    // As it is when the hook is registered again while the attempt is under way.
    const late = { ...storage, commit: storage.commit };
    late.commit = async (scope, change) => {
      await storage.commit('global', (db) =>
        db.updateTable('hooks').set({ updated_at: 1 }).where('id', '=', id).execute(),
      );
      return storage.commit(scope, change);
    };
    await attemptNext(late);
    expect(await statuses()).toEqual(['failed', 'pending']);
    await attemptNext(storage);
    expect(await statuses()).toEqual(['failed', 'delivered']);
  });

  test('what waited for others for a week is tried once, and not put off again', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    target.behave(failing);
    await hook(target.url());
    await acquire('a');
    await storage.commit('global', async (db) => {
      const eightDays = 8 * 24 * hour;
      const { created_at } = await db.selectFrom('deliveries').select('created_at').executeTakeFirstOrThrow();
      await db
        .updateTable('deliveries')
        .set({ created_at: created_at - eightDays })
        .execute();
    });
    await attemptNext(storage);
    expect([await statuses(), target.deliveries.length]).toEqual([['failed'], 1]);
  });

  test('what the new format of a hook cannot express is given up, and those behind it go on', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    await hook(target.url());
    await acquire('a');
    await hook(target.url(), { format: 'buildkite', events: ['sync.succeeded'] });
    await attemptNext(storage);
    expect([await statuses(), target.deliveries]).toEqual([['failed'], []]);
    expect((await hooked().deliveries())[0]?.last_error).toContain('buildkite');
  });

  test('a name that has come to lead into a private network gets nothing, until it leads elsewhere', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    let address = '10.0.0.1';
    const resolve: Resolve = async () => [address];
    const targets = checking(resolve);
    await hook(`http://ci.example.com:${target.port}/`);
    await acquire('a');
    await attemptNext(storage, { targets });
    expect([await statuses(), target.connections()]).toEqual([['pending'], 0]);
    expect((await hooked().deliveries())[0]?.last_error).toContain('a private address');
    address = '127.0.0.1';
    await makeDue();
    await attemptNext(storage, { targets });
    expect([await statuses(), target.deliveries.length]).toEqual([['delivered'], 1]);
  });

  test('a stop interrupts attempts; what they were about is due at once, and has lost no attempt', async () => {
    const { hook, acquire, storage } = hooked();
    const target = await receiver();
    target.behave({ does: 'hang' });
    await hook(target.url());
    await acquire('a');
    const first = startDeliveryWorkers(storage);
    const interrupted = await target.nextDelivery();
    await first.stop();
    expect(await hooked().deliveries()).toMatchObject([{ status: 'pending', attempts: 0, lease_owner: null }]);

    target.behave(ok);
    startDeliveryWorkers(storage);
    const delivered = await target.nextDelivery();
    expect(idOf(delivered)).toBe(idOf(interrupted));
    await expect.poll(statuses, patient).toEqual(['delivered']);
  });
});
