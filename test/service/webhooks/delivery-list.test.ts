import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DeliveryFilter, findDelivery, listDeliveries } from '../../../src/service/webhooks/delivery-list.ts';
import { type DeliveryEnd, settleDelivery } from '../../../src/service/webhooks/delivery-queue.ts';
import { findHookOverview, listHooks } from '../../../src/service/webhooks/hook-overview.ts';
import { findHook, type HookRow } from '../../../src/service/webhooks/hooks.ts';
import { pauseHook } from '../../../src/service/webhooks/pause-hook.ts';
import type { ReceiverAnswer } from '../../../src/service/webhooks/receiver-answer.ts';
import { sendAgain } from '../../../src/service/webhooks/send-again.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { claimNext } from './claim-next.ts';
import { actor, hookedStorage, made } from './hooked-storage.ts';

const [url, otherUrl] = ['https://a.example.com/', 'https://b.example.com/?key=s3cret'];
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.each(realDatabaseKinds)('the deliveries of a hook on $name', (kind) => {
  const hooked = hookedStorage(kind);

  async function rowOf(id: string): Promise<HookRow> {
    const row = await findHook(hooked().storage.read, 'game', id);
    if (row === undefined) throw new Error('There is no such hook.');
    return row;
  }
  async function settleNext(end: DeliveryEnd, answer: ReceiverAnswer | null = null): Promise<void> {
    const { storage } = hooked();
    const claimed = await claimNext(storage);
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, { ...made, answer }));
  }
  const pause = (id: string) => {
    const { storage } = hooked();
    return storage.commit('global', (db) => pauseHook(db, storage.now, { workspace: 'game', id, actor }));
  };

  test('are listed page by page, the newest first, each once, also while more come', async () => {
    const { hook, acquire, storage } = hooked();
    const [id, other] = [await hook(url), await hook(otherUrl)];
    const paths = Array.from({ length: 9 }, (_, index) => `file-${index}`);
    for (const path of paths) await acquire(path);
    // No link to a page on which there is nothing.
    expect((await listDeliveries(storage, await rowOf(id), { limit: paths.length })).next).toBeUndefined();
    expect((await listDeliveries(storage, await rowOf(id), { limit: paths.length - 1 })).next).toBeDefined();
    let more = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (limit) => {
        const row = await rowOf(id);
        const newest = (await listDeliveries(storage, row, { limit: 1 })).deliveries[0]?.id;
        const expected = (await hooked().deliveries()).filter(({ hook_id }) => hook_id === id).map((found) => found.id);
        const listed: string[] = [];
        let before: number | undefined;
        do {
          const page = await listDeliveries(storage, row, { limit, before });
          expect(page.deliveries.length).toBeLessThanOrEqual(limit);
          listed.push(...page.deliveries.map((delivery) => delivery.id));
          before = page.next;
          more += 1;
          await acquire(`more-${more}`);
        } while (before !== undefined);
        expect(listed).toEqual(expected.toReversed());
        expect(listed[0]).toBe(newest);
      }),
      { numRuns: 6 },
    );
    expect((await listDeliveries(storage, await rowOf(other), { limit: 1_000 })).deliveries).toHaveLength(9 + more);
  });

  test('say how far they are, and what came of their last attempt', async () => {
    const { hook, acquire, release, storage } = hooked();
    const id = await hook(url);
    const answer = { kept: 'whole', status: 500, headers: { server: 'x' }, body: 'no', bodyIsCut: false } as const;
    const lock = await acquire('a');
    await settleNext({ kind: 'delivered' }, { kept: 'status', status: 204 });
    await acquire('b');
    await settleNext({ kind: 'given-up', why: 'It failed.' }, answer);
    await acquire('c');
    await settleNext({ kind: 'retry', why: 'It failed.', afterMs: 3_600_000 }, answer);
    await acquire('d');
    await claimNext(storage);
    await release('d');
    await acquire('e');
    const list = async () => (await listDeliveries(storage, await rowOf(id), { limit: 10 })).deliveries.toReversed();
    const states = async () => (await list()).map(({ state }) => state);
    expect(await states()).toEqual([
      { kind: 'delivered', at: timestamp },
      { kind: 'failed', at: timestamp },
      { kind: 'waiting', until: timestamp },
      { kind: 'under-way' },
      { kind: 'behind-another' },
      { kind: 'waiting', until: timestamp },
    ]);
    const [first, second, third, fourth] = await list();
    expect(first).toEqual({
      id: expect.stringMatching(/^msg_/),
      event: expect.objectContaining({ type: 'lock.acquired', workspace: 'game', data: { lock } }),
      state: { kind: 'delivered', at: timestamp },
      again: false,
      attempts: 1,
      created_at: timestamp,
      last_attempt: { at: timestamp, duration_ms: made.durationMs, answer: { kept: 'status', status: 204 } },
      last_error: null,
    });
    for (const failed of [second, third]) {
      expect(failed).toMatchObject({ attempts: 1, last_attempt: { answer }, last_error: 'It failed.' });
    }
    expect(fourth).toMatchObject({ attempts: 0, last_attempt: null, last_error: null });

    await pause(id);
    expect((await states()).slice(2).map((state) => state.kind)).toEqual(['held', 'under-way', 'held', 'held']);
    // The instance has died.
    await storage.commit('global', (db) => db.updateTable('deliveries').set({ lease_until: 1 }).execute());
    expect((await states())[3]).toEqual({ kind: 'held' });
  });

  test('are listed by their state alone as well, page by page', async () => {
    const { hook, acquire, storage, deliveries } = hooked();
    const id = await hook(url);
    for (const path of ['a', 'b', 'c', 'd', 'e', 'f']) await acquire(path);
    const ids = (await deliveries()).map((delivery) => delivery.id);
    const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = ids;
    const over = { finished_at: storage.now, next_attempt_at: null };
    const end = (delivery: string, status: string, last_error: string | null = 'no') =>
      storage.commit('global', (db) =>
        db
          .updateTable('deliveries')
          .set({ ...over, status, last_error })
          .where('id', '=', delivery)
          .execute(),
      );
    await end(first, 'failed');
    await end(second, 'delivered', null);
    await end(third, 'dropped');
    await end(fourth, 'failed');
    // It was delivered, and is sent again: it is not over.
    await storage.commit('global', (db) =>
      db.updateTable('deliveries').set({ status: 'again' }).where('id', '=', fifth).execute(),
    );
    const listed = async (only: DeliveryFilter) => {
      const found: string[] = [];
      let before: number | undefined;
      do {
        const page = await listDeliveries(storage, await rowOf(id), { limit: 1, before, only });
        found.push(...page.deliveries.map((delivery) => delivery.id));
        before = page.next;
      } while (before !== undefined);
      return found;
    };
    expect(await listed('open')).toEqual([sixth, fifth]);
    expect(await listed('failed')).toEqual([fourth, first]);
    expect(await listed('delivered')).toEqual([second]);
    expect(await listed('dropped')).toEqual([third]);
  });

  test('are found by their id, of this hook alone, and show that they are sent again', async () => {
    const { hook, acquire, storage } = hooked();
    const [id, other] = [await hook(url), await hook(otherUrl)];
    await acquire('a');
    await settleNext({ kind: 'delivered' });
    await settleNext({ kind: 'delivered' });
    const [delivery] = (await listDeliveries(storage, await rowOf(id), { limit: 1 })).deliveries;
    if (delivery === undefined) throw new Error('There is no delivery.');
    expect(await findDelivery(storage, await rowOf(id), delivery.id)).toEqual(delivery);
    expect(await findDelivery(storage, await rowOf(other), delivery.id)).toBeUndefined();
    const which = { workspace: 'game', hook: id, delivery: delivery.id, actor };
    await storage.commit('global', (db) => sendAgain(db, storage.now, which));
    expect(await findDelivery(storage, await rowOf(id), delivery.id)).toMatchObject({
      again: true,
      state: { kind: 'waiting' },
    });
  });

  test('are counted for each hook, those that wait and those that failed lately', async () => {
    const { hook, acquire, storage } = hooked();
    const [id, other] = [await hook(url), await hook(otherUrl)];
    const empty = await hook('https://c.example.com/', { events: ['sync.failed'] });
    await acquire('a');
    await settleNext({ kind: 'given-up', why: 'no' });
    await settleNext({ kind: 'delivered' });
    await acquire('b');
    await pause(other);
    const failing = (await hooked().deliveries()).find(({ status }) => status === 'failed')?.hook_id;
    const overviews = await listHooks(storage.read, 'game');
    for (const overview of overviews) {
      expect(await findHookOverview(storage.read, 'game', overview.id)).toEqual(overview);
      expect(await findHookOverview(storage.read, 'another', overview.id)).toBeUndefined();
    }
    const counted = Object.fromEntries(
      overviews.map((overview) => [
        overview.id,
        [overview.inactive_why, overview.pending_deliveries, overview.failed_deliveries],
      ]),
    );
    expect(counted).toEqual({
      [id]: [null, 1, failing === id ? 1 : 0],
      [other]: ['paused', 1, failing === other ? 1 : 0],
      [empty]: [null, 0, 0],
    });
  });
});
