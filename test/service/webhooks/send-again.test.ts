import { describe, expect, test } from 'vitest';
import type { DeliveryEnd } from '../../../src/service/webhooks/delivery-queue.ts';
import { sendTest } from '../../../src/service/webhooks/send-test.ts';
import { databaseKinds } from '../../support/databases.ts';
import { nothing } from '../../support/other-servers/responses.ts';
import { receiver } from './delivering.ts';
import { attemptNext } from './delivery-workers.ts';
import { auditOf, idOf } from './hooked-service.ts';
import { actor, claimNext, hookedStorage } from './hooked-storage.ts';

const atOnce = { ok: true, value: 'sent-again' };
const refusal = (words: string) => ({ ok: false, reason: expect.stringContaining(words) });
const retry: DeliveryEnd = { kind: 'retry', reason: 'no', afterMs: 3_600_000 };
const delivered: DeliveryEnd = { kind: 'delivered' };

describe.each(databaseKinds)('sending a delivery again on $name', (kind) => {
  const { storage, hook, deliveries, due, claim, settle, setDeliveries, acquire, pause, resume, release, sendAgain } =
    hookedStorage(kind);

  test('a completed delivery arrives again with the same id, exactly once per request', async () => {
    const to = await receiver();
    const { again } = await due({ url: to.url() });
    await attemptNext(storage);
    const [{ id: delivery } = { id: '' }] = await deliveries();
    for (const status of [204, 500]) {
      to.behave(nothing(status));
      expect(await again(delivery)).toEqual(atOnce);
      expect(await attemptNext(storage)).toBe(true);
      expect(await attemptNext(storage)).toBe(false);
    }
    expect(to.deliveries.map(idOf)).toEqual([delivery, delivery, delivery]);
    expect(new Set(to.deliveries.map(({ body }) => body)).size).toBe(1);
    const last_error = expect.stringContaining('500');
    expect(await deliveries()).toMatchObject([{ status: 'failed', attempts: 3, next_attempt_at: null, last_error }]);
    expect(await again(delivery)).toEqual(atOnce);
    to.behave(nothing(204));
    await attemptNext(storage);
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 4, last_error: null }]);
  });

  test('each change that makes a delivery due wakes the workers of its instance', async () => {
    const given = { events: ['lock.acquired'] } as const;
    const url = 'https://a.example.com/';
    let woken = 0;
    storage.onQueued('deliveries', () => {
      woken += 1;
    });
    async function wakes(change: Promise<unknown>): Promise<boolean> {
      const before = woken;
      await change;
      return woken > before;
    }
    expect([await wakes(acquire('a')), await wakes(hook(url, given))]).toEqual([false, false]);
    expect([await wakes(acquire('b')), await wakes(release('b'))]).toEqual([true, false]);
    const [{ id, hook_id } = { id: '', hook_id: '' }] = await deliveries();
    const test = { workspace: 'game', id: hook_id, actor };
    expect(await wakes(storage.commit('global', (db) => sendTest(db, storage.now, test)))).toBe(true);
    expect(await wakes(sendAgain(hook_id, id))).toBe(true);
    expect([await wakes(pause(hook_id)), await wakes(resume(hook_id))]).toEqual([false, true]);
    expect([await wakes(pause(hook_id)), await wakes(hook(url, given))]).toEqual([false, true]);
    expect(await wakes(hook(url, given))).toBe(false);
  });

  test('a delivery that waits for its next attempt is due at once, and keeps its schedule', async () => {
    const { again } = await due();
    const first = await claim();
    await settle(first, retry);
    expect(await claimNext(storage)).toBeUndefined();
    expect(await again(first.id)).toEqual(atOnce);
    const second = await claim();
    expect(second).toMatchObject({ id: first.id, attempts: 1, again: false });
    await settle(second, retry);
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: 2 }]);
  });

  test('is refused during an attempt, until the lease of its instance has expired', async () => {
    const { again } = await due();
    const claimed = await claim();
    expect(await again(claimed.id)).toEqual(refusal('in progress'));
    await setDeliveries({ lease_until: 1 });
    expect(await again(claimed.id)).toEqual(atOnce);
    expect(await settle(claimed, delivered)).toBe(false);
    expect((await claim()).id).toBe(claimed.id);
  });

  test('is refused while its hook is paused, or after its receiver has ended it', async () => {
    const { id, again } = await due();
    const claimed = await claim();
    await settle(claimed, delivered);
    await pause(id);
    expect(await again(claimed.id)).toEqual(refusal('paused'));
    await resume(id);
    await acquire('b');
    await settle(await claim(), { kind: 'gone', reason: 'no' });
    expect(await again(claimed.id)).toEqual(refusal('410'));
    await resume(id);
    expect(await again(claimed.id)).toEqual(atOnce);
  });

  test('delays a later delivery of the same path until it has ended', async () => {
    const { again } = await due();
    const first = await claim();
    await settle(first, delivered);
    await release('a');
    const second = await claim();
    await settle(second, retry);
    expect(await again(first.id)).toEqual(atOnce);
    expect(await again(second.id)).toEqual(refusal('earlier delivery'));
    const repeated = await claim();
    expect(repeated.id).toBe(first.id);
    expect(await claimNext(storage)).toBeUndefined();
    await settle(repeated, delivered);
    expect(await claim()).toMatchObject({ id: second.id, attempts: 1 });
  });

  test('is refused during an attempt at a later delivery of the same path, but not of another path', async () => {
    const { again } = await due();
    await acquire('b');
    const [first, other] = [await claim(), await claim()];
    await settle(first, delivered);
    await settle(other, delivered);
    await release('a');
    const second = await claim();
    expect(await again(first.id)).toEqual(refusal('later delivery'));
    expect(await again(other.id)).toEqual(atOnce);
    await settle(second, delivered);
    expect(await again(first.id)).toEqual(atOnce);
  });

  test('keeps the order of events if several deliveries are sent again', async () => {
    const { again } = await due();
    const acquired = await claim();
    await settle(acquired, delivered);
    await release('a');
    const released = await claim();
    await settle(released, delivered);
    expect(await again(acquired.id)).toEqual(atOnce);
    expect(await again(released.id)).toEqual({ ok: true, value: 'sent-after-another' });
    const first = await claim();
    expect(first.id).toBe(acquired.id);
    expect(await claimNext(storage)).toBeUndefined();
    await settle(first, { kind: 'given-up', reason: 'no' });
    expect((await claim()).id).toBe(released.id);
  });

  test('is audited with its actor and without secrets, unless it was refused', async () => {
    const { id, again } = await due({
      url: 'https://a.example.com/p4th-secret?key=s3cret',
    });
    const claimed = await claim();
    await again(claimed.id);
    await settle(claimed, delivered);
    await again(claimed.id);
    const detail = { workspace: 'game', hook: id, origin: 'https://a.example.com', delivery: claimed.id };
    expect((await auditOf(storage, id)).filter(({ action }) => action === 'delivery.sent-again')).toMatchObject([
      { action: 'delivery.sent-again', actor: 'ada', token_id: 'tok_1', detail },
    ]);
  });
});
