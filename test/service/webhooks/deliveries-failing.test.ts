import { describe, expect, test } from 'vitest';
import { timeOf } from '../../../src/service/storage/timestamp.ts';
import { databaseKinds } from '../../support/databases.ts';
import type { Answer } from '../../support/other-servers/other-server.ts';
import { nothing, reset, silence } from '../../support/other-servers/responses.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { attemptNext, receiver, startDeliveryWorkers } from './delivering.ts';
import { idOf, patient, verified } from './hooked-service.ts';
import { hookedStorage, secret } from './hooked-storage.ts';

const ok: Answer = nothing(204);
const failing: Answer = nothing(500);

describe.each(databaseKinds)('failing deliveries on $name', (kind) => {
  const { storage, deliveries, hook, acquire, waiting, release, setDeliveries } = hookedStorage(kind);

  /** A hook with this receiver, and a delivery that waits for it since a lock was acquired. */
  async function told(...behaviours: readonly [Answer, ...Answer[]]) {
    const target = await receiver();
    target.behave(...behaviours);
    const id = await hook(target.url());
    const lock = await acquire('a');
    return { target, id, lock };
  }

  /** The remaining time until the next attempt. */
  async function untilNextAttempt(): Promise<number> {
    const at = await timeOf(storage.read);
    return ((await deliveries())[0]?.next_attempt_at ?? Number.NaN) - at;
  }

  test('a receiver that fails and then recovers gets the delivery, each time with the same id', async () => {
    const elsewhere = await receiver();
    const ways: Answer[] = [
      nothing(429, { 'retry-after': '0' }),
      nothing(307, { location: elsewhere.url('/temporary') }),
      reset,
      silence,
    ];
    const { target, lock } = await told(failing, ...ways, ok);
    const { attempts, log } = startDeliveryWorkers(storage, { options: { timeoutMs: 3_000 } });
    await expect.poll(waiting, patient).toBe(0);

    expect(target.deliveries).toHaveLength(ways.length + 2);
    expect(new Set(target.deliveries.map(idOf)).size).toBe(1);
    for (const delivery of target.deliveries) {
      expect(verified(secret, delivery)).toMatchObject({ type: 'lock.acquired', data: { lock } });
    }
    expect(elsewhere.connections.opened).toBe(0);
    expect(await attempts()).toEqual({ delivered: 1, retry: ways.length + 1 });
    expect(log()).toContain(`${new URL(target.url()).origin} responded with the status 500.`);
  });

  test('a failed attempt is repeated by the schedule, and the last one ends the delivery', async () => {
    await told(failing);
    const began = performance.now();
    expect([await attemptNext(storage), await attemptNext(storage)]).toEqual([true, false]);
    const wait = await untilNextAttempt();
    // The test itself takes part of the delay.
    expect(wait).toBeGreaterThan(5_000 - (performance.now() - began) - 2);
    expect(wait).toBeLessThanOrEqual(5_501);
    await setDeliveries({ attempts: 9, next_attempt_at: 0 });
    await attemptNext(storage);
    expect(await waiting()).toBe(0);
  });

  test('each attempt is signed again, with its own time', async () => {
    const { target } = await told(failing);
    await setDeliveries({ created_at: 0 });
    await attemptNext(storage);
    const delivery = await target.nextDelivery();
    // Receivers reject a signature that is older than a few minutes.
    expect(Math.abs(Number(delivery.headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(60);
    expect(() => verified(secret, delivery)).not.toThrow();
  });

  test('410 deactivates the hook, and drops its waiting deliveries', async () => {
    const { target, id } = await told(nothing(410));
    await acquire('b');
    await release('a');
    await attemptNext(storage);

    const other = await receiver();
    await hook(other.url());
    const { attempts } = startDeliveryWorkers(storage);
    await release('b');
    await expect.poll(attempts, patient).toEqual({ delivered: 1 });
    expect([target.deliveries.length, other.deliveries.length]).toEqual([1, 1]);
    const ofTheHook = (await deliveries()).filter(({ hook_id }) => hook_id === id);
    expect(ofTheHook).toEqual([]);

    target.behave(ok);
    await hook(target.url());
    await acquire('c');
    await expect.poll(() => target.deliveries.length, patient).toBe(2);
  });

  test('410 for a delivery from before a new registration does not deactivate the hook', async () => {
    await told(nothing(410), ok);
    await acquire('b');
    // As if the hook were registered again during the attempt.
    const late: typeof storage = {
      ...storage,
      async commit(scope, change) {
        await changeRows(storage, 'hooks', { updated_at: 1 });
        return storage.commit(scope, change);
      },
    };
    await attemptNext(late);
    expect(await waiting()).toBe(1);
    expect(await attemptNext(storage)).toBe(true);
    expect(await waiting()).toBe(0);
  });

  test('a stop interrupts attempts, which are due again at once and do not count', async () => {
    const { target } = await told(silence);
    const first = startDeliveryWorkers(storage);
    const interrupted = await target.nextDelivery();
    await first.stop();
    expect(await deliveries()).toMatchObject([{ attempts: 0, claimed_by: null }]);

    target.behave(ok);
    startDeliveryWorkers(storage);
    expect(idOf(await target.nextDelivery())).toBe(idOf(interrupted));
    await expect.poll(waiting, patient).toBe(0);
  });
});
