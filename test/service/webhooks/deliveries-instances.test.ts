import { describe, expect, test } from 'vitest';
import { endAllLeases, endLease, leaseMs, renewLease } from '../../../src/service/runtime/lease.ts';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import {
  type ClaimedDelivery,
  type DeliveryEnd,
  settleDelivery,
} from '../../../src/service/webhooks/delivery-queue.ts';
import {
  createPostgresDatabase,
  type DatabaseKind,
  postgresServer,
  realDatabaseKinds,
} from '../../support/databases.ts';
import { claimNext } from './claim-next.ts';
import { receiver } from './delivering.ts';
import { startDeliveryWorkers } from './delivery-workers.ts';
import { idOf } from './hooked-service.ts';
import { hookedStorage, made } from './hooked-storage.ts';
import { patient } from './patience.ts';

const url = 'https://a.example.com/';

describe.each(realDatabaseKinds)('deliveries of several instances on $name', (kind) => {
  const hooked = hookedStorage(kind);

  async function claim(): Promise<ClaimedDelivery> {
    const claimed = await claimNext(hooked().storage);
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    return claimed;
  }

  const settle = (claimed: ClaimedDelivery, end: DeliveryEnd) => {
    const { storage } = hooked();
    return storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, made));
  };

  /** As when the instance that holds them has died. */
  const endLeases = () =>
    hooked().storage.commit('global', (db) =>
      db.updateTable('deliveries').set({ lease_until: 1 }).where('lease_until', 'is not', null).execute(),
    );

  const statuses = async () => (await hooked().deliveries()).map(({ status }) => status);

  test('two sets of workers deliver everything once', async () => {
    const { hook, acquire, storage } = hooked();
    const targets = [await receiver(), await receiver()];
    for (const target of targets) await hook(target.url());
    const paths = Array.from({ length: 40 }, (_, index) => `file-${index}`);
    const workers = [startDeliveryWorkers(storage), startDeliveryWorkers(storage)];
    await Promise.all(paths.map(acquire));
    for (const { wake } of workers) wake();
    await expect.poll(async () => (await statuses()).every((status) => status === 'delivered'), patient).toBe(true);
    for (const { deliveries } of targets) {
      expect(deliveries).toHaveLength(paths.length);
      expect(new Set(deliveries.map(idOf)).size).toBe(paths.length);
    }
    const attempts = await Promise.all(workers.map((worker) => worker.attempts()));
    expect(attempts.reduce((sum, { delivered = 0 }) => sum + delivered, 0)).toBe(2 * paths.length);
    for (const { log } of workers) expect(log()).toBe('');
  });

  test('one that is claimed is not claimed again until its lease has ended', async () => {
    const { hook, acquire, storage } = hooked();
    await hook(url);
    await acquire('a');
    const first = await claim();
    expect(await claimNext(storage)).toBeUndefined();
    await endLeases();
    const second = await claim();
    expect([second.id, second.attempts]).toEqual([first.id, 0]);
    expect(second.lease).not.toBe(first.lease);
  });

  test('those of busy hooks are left for later', async () => {
    const { hook, acquire, storage } = hooked();
    const [busy, free] = [await hook(url), await hook('https://b.example.com/')];
    await acquire('a');
    expect((await claimNext(storage, [busy]))?.hook.id).toBe(free);
    expect(await claimNext(storage, [busy])).toBeUndefined();
    expect((await claimNext(storage))?.hook.id).toBe(busy);
  });

  test('the hook that has waited longest comes first', async () => {
    const { hook, acquire, storage } = hooked();
    await hook(url);
    for (const path of ['a', 'b', 'c', 'd']) await acquire(path);
    const late = await hook('https://b.example.com/');
    await acquire('e');
    const dueAt = (hookId: string, at: number) =>
      storage.commit('global', (db) =>
        db.updateTable('deliveries').set({ next_attempt_at: at }).where('hook_id', '=', hookId).execute(),
      );
    await dueAt(late, 5);
    expect((await claim()).hook.id).toBe(late);
    expect((await claim()).hook.id).not.toBe(late);
  });

  test.each<DeliveryEnd>([
    { kind: 'delivered' },
    { kind: 'retry', afterMs: 60_000, why: 'late' },
    { kind: 'given-up', why: 'late' },
    { kind: 'gone', why: 'late' },
  ])('an instance that has lost its lease settles nothing: $kind', async (end) => {
    const { hook, acquire, release, deliveries, storage } = hooked();
    await hook(url);
    await acquire('a');
    await release('a');
    const late = await claim();
    await endLeases();
    const owner = await claim();
    const before = await deliveries();
    expect(await settle(late, end)).toBe(false);
    expect(await deliveries()).toEqual(before);
    const { active } = await storage.read.selectFrom('hooks').select('active').executeTakeFirstOrThrow();
    expect(active).toBe(1);

    expect(await settle(owner, { kind: 'delivered' })).toBe(true);
    expect(await statuses()).toEqual(['delivered', 'pending']);
    expect(await settle(late, end)).toBe(false);
    expect(await statuses()).toEqual(['delivered', 'pending']);
  });

  test('a receiver that said 410 wins over attempts that are under way to it', async () => {
    const { hook, acquire } = hooked();
    await hook(url);
    await acquire('a');
    await acquire('b');
    const [first, second] = [await claim(), await claim()];
    expect(await settle(first, { kind: 'gone', why: 'gone' })).toBe(true);
    expect(await settle(second, { kind: 'retry', afterMs: 0, why: 'failed' })).toBe(false);
    expect(await statuses()).toEqual(['failed', 'dropped']);
  });

  test('an attempt that takes long keeps its lease', async () => {
    const { hook, acquire, deliveries, storage } = hooked();
    const target = await receiver();
    target.behave({ does: 'hang' });
    await hook(target.url());
    await acquire('a');
    startDeliveryWorkers(storage, { terms: { timeoutMs: 600_000, renewEveryMs: 20 } });
    await target.nextDelivery();
    const soon = await storage.commit('global', (db) =>
      db
        .updateTable('deliveries')
        .set(({ eb }) => ({ lease_until: eb(storage.now, '+', leaseMs / 2) }))
        .returning('lease_until')
        .executeTakeFirstOrThrow(),
    );
    await expect
      .poll(async () => (await deliveries())[0]?.lease_until ?? 0, patient)
      .toBeGreaterThan((soon.lease_until ?? 0) + leaseMs / 4);
    expect(target.deliveries).toHaveLength(1);
  });

  test('an attempt whose lease was taken over is called off, and what came of it does not count', async () => {
    const { hook, acquire, deliveries, storage } = hooked();
    const target = await receiver();
    target.behave({ does: 'hang' });
    await hook(target.url());
    await acquire('a');
    startDeliveryWorkers(storage, { terms: { timeoutMs: 600_000, renewEveryMs: 20 } });
    await target.nextDelivery();
    const another = { lease_owner: 'another instance', lease_until: 8_000_000_000_000 };
    await storage.commit('global', (db) => db.updateTable('deliveries').set(another).execute());
    await target.allDisconnected();
    expect(await deliveries()).toMatchObject([{ ...another, status: 'pending', attempts: 0, last_error: null }]);
  });

  test('a lease can be renewed while it is kept, and not once it is settled or another has it', async () => {
    const { hook, acquire, storage } = hooked();
    await hook(url);
    await acquire('a');
    const first = await claim();
    expect(await renewLease(storage, 'deliveries', first)).toBe(true);
    await endLeases();
    const second = await claim();
    expect(await renewLease(storage, 'deliveries', first)).toBe(false);
    await settle(second, { kind: 'delivered' });
    expect(await renewLease(storage, 'deliveries', second)).toBe(false);
    expect(await statuses()).toEqual(['delivered']);
  });

  test('a lease that was ended is free at once, and a renewal still on its way does not take it back', async () => {
    const { hook, acquire, storage } = hooked();
    await hook(url);
    await acquire('a');
    const ended = await claim();
    await endLease(storage, 'deliveries', ended);
    expect(await renewLease(storage, 'deliveries', ended)).toBe(false);
    expect((await claim()).id).toBe(ended.id);
  });

  test('what an earlier process has left is due at once when it is said that there is no other', async () => {
    const { hook, acquire, storage } = hooked();
    await hook(url);
    await acquire('a');
    const left = await claim();
    await endAllLeases(storage);
    expect((await claim()).id).toBe(left.id);
    expect(await settle(left, { kind: 'delivered' })).toBe(false);
  });
});

describe.skipIf(postgresServer === undefined)(
  'deliveries over several connections to one PostgreSQL (needs TEST_DATABASE_URL)',
  () => {
    const addresses: string[] = [];
    const kind: DatabaseKind = {
      name: 'PostgreSQL',
      async open() {
        const { url: address, remove } = await createPostgresDatabase(postgresServer ?? '');
        addresses.push(address);
        const storage = await openPostgres({ url: address, onIdleError: () => undefined });
        return { storage, remove: () => storage.close().then(remove) };
      },
    };
    const hooked = hookedStorage(kind);

    test('instances that claim at the same moment never get the same delivery, nor two of one path', async () => {
      const { hook, acquire, release, storage } = hooked();
      const other = await openPostgres({ url: addresses[0] ?? '', onIdleError: () => undefined });
      try {
        await hook(url);
        const paths = Array.from({ length: 30 }, (_, index) => `file-${index}`);
        await Promise.all(paths.map(acquire));
        await Promise.all(paths.map(release));
        const claimed: ClaimedDelivery[] = [];
        async function claimAll(from: typeof storage): Promise<void> {
          // One that finds nothing may have been in the way of another: it looks again until all first ones are taken.
          while (claimed.length < paths.length) {
            const next = await claimNext(from);
            if (next !== undefined) claimed.push(next);
          }
        }
        await Promise.all([storage, other, storage, other].map(claimAll));
        expect(new Set(claimed.map(({ id }) => id)).size).toBe(paths.length);
        expect(new Set(claimed.map(({ event }) => event.type))).toEqual(new Set(['lock.acquired']));
        expect(await claimNext(other)).toBeUndefined();
      } finally {
        await other.close();
      }
    });
  },
);
