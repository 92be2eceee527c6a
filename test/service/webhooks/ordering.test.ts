import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import type { Behaviour, Delivery } from '../../support/webhook-receiver.ts';
import { receiver } from './delivering.ts';
import { startDeliveryWorkers } from './delivery-workers.ts';
import { idOf } from './hooked-service.ts';
import { type HookedStorage, hookedStorage } from './hooked-storage.ts';
import { patient } from './patience.ts';

const ok: Behaviour = { does: 'answer', status: 204 };
const failing: Behaviour = { does: 'answer', status: 500 };

const lockIn = ({ body }: Delivery): Lock => JSON.parse(body).data.lock;
const toldIn = ({ type, data }: { type: string; data: { lock: Lock } }): string => `${type} ${data.lock.fence}`;

/** What a receiver heard of each path, without repetitions. */
function heardOf(deliveries: readonly Delivery[]): Readonly<Record<string, readonly string[]>> {
  const first = new Map(deliveries.toReversed().map((delivery) => [idOf(delivery), delivery]));
  const paths = Map.groupBy([...first.values()].reverse(), (delivery) => lockIn(delivery).path);
  return Object.fromEntries(
    [...paths].map(([path, heard]) => [path, heard.map(({ body }) => toldIn(JSON.parse(body)))]),
  );
}

/** Each of them takes the lock on its path, or releases it. */
const changes = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 25 });

const behaviours = fc.array(
  fc.constantFrom<Behaviour>(
    ok,
    failing,
    { does: 'reset' },
    { does: 'answer', status: 302, headers: { location: '/' } },
    { does: 'hang' },
  ),
  { maxLength: 25 },
);

describe.each(realDatabaseKinds)('the order of deliveries on $name', (kind) => {
  const hooked = hookedStorage(kind);

  /** Makes the changes one after the other, and gives what happened to each path. */
  async function make(paths: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
    const { acquire, release } = hooked();
    const happened = new Map<string, string[]>();
    for (const path of paths) {
      const before = happened.get(path) ?? [];
      const held = before.length % 2 === 1;
      const { fence } = await (held ? release(path) : acquire(path));
      happened.set(path, [...before, `${held ? 'lock.released' : 'lock.acquired'} ${fence}`]);
    }
    return Object.fromEntries(happened);
  }

  const allDelivered = async ({ deliveries }: HookedStorage): Promise<boolean> =>
    (await deliveries()).every(({ status }) => status === 'delivered');

  const clear = () =>
    hooked().storage.commit('global', async (db) => {
      await db.deleteFrom('hooks').execute();
      await db.deleteFrom('locks').execute();
    });

  test('the first of a path is waited for; other paths and other hooks go on', async () => {
    const { hook, acquire, release, storage } = hooked();
    const [target, other] = [await receiver(), await receiver()];
    target.behave(failing);
    await hook(target.url());
    await hook(other.url());
    await acquire('a');
    await release('a');
    await acquire('a');
    const { attempts, wake } = startDeliveryWorkers(storage, { terms: { schedule: () => 3_600_000 } });
    await expect.poll(attempts, patient).toEqual({ retry: 1, delivered: 3 });
    expect(heardOf(other.deliveries)['a']).toHaveLength(3);

    target.behave(ok);
    await acquire('b');
    wake();
    await expect.poll(attempts, patient).toEqual({ retry: 1, delivered: 5 });
    expect(target.deliveries.map((delivery) => lockIn(delivery).path)).toEqual(['a', 'b']);
    await storage.commit('global', (db) =>
      db.updateTable('deliveries').set({ next_attempt_at: 0 }).where('next_attempt_at', 'is not', null).execute(),
    );
    await expect.poll(attempts, patient).toEqual({ retry: 1, delivered: 8 });
    expect(heardOf(target.deliveries)).toEqual(heardOf(other.deliveries));
  });

  test('however a receiver fails, it hears of each path in the order of its locks, and nothing twice in between', async () => {
    const { hook, storage } = hooked();
    const instances = [0, 1].map(() => startDeliveryWorkers(storage, { terms: { timeoutMs: 200 } }));
    await fc.assert(
      fc
        .asyncProperty(changes, behaviours, async (paths, ways) => {
          const target = await receiver();
          const [first = ok, ...others] = ways;
          target.behave(first, ...others, ok);
          await hook(target.url());
          const happened = await make(paths);
          await expect.poll(() => allDelivered(hooked()), patient).toBe(true);
          expect(heardOf(target.deliveries)).toEqual(happened);
          // While every lease is kept, attempts at one delivery follow each other without another of its path between.
          for (const heard of Map.groupBy(target.deliveries, (delivery) => lockIn(delivery).path).values()) {
            const ids = heard.map(idOf);
            const runs = ids.filter((id, index) => id !== ids[index - 1]);
            expect(runs).toEqual([...new Set(ids)]);
          }
        })
        .afterEach(clear),
      { numRuns: 8 },
    );
    for (const { log } of instances) expect(log()).not.toContain('unexpected');
  });

  test('the order holds, and nothing is lost, where instances keep losing their leases', async () => {
    const { hook, storage } = hooked();
    const instances = [0, 1].map(() => startDeliveryWorkers(storage, { terms: { timeoutMs: 200, renewEveryMs: 20 } }));
    const loseSome = (keys: readonly string[]) =>
      storage.commit('global', (db) =>
        db.updateTable('deliveries').set({ lease_until: 0 }).where('ordering_key', 'in', keys).execute(),
      );
    const losses = fc.array(fc.subarray(['lock:a', 'lock:b', 'lock:c'], { minLength: 1 }), { maxLength: 15 });
    await fc.assert(
      fc
        .asyncProperty(changes, behaviours, losses, async (paths, ways, lost) => {
          const target = await receiver();
          const [first = ok, ...others] = ways;
          target.behave(first, ...others, ok);
          await hook(target.url());
          const happened = await make(paths);
          for (const [heard, keys] of lost.entries()) {
            const goesOn = async () => target.deliveries.length > heard || (await allDelivered(hooked()));
            await expect.poll(goesOn, { ...patient, interval: 5 }).toBe(true);
            await loseSome(keys);
          }
          await expect.poll(() => allDelivered(hooked()), patient).toBe(true);
          expect(heardOf(target.deliveries)).toEqual(happened);
        })
        .afterEach(clear),
      { numRuns: 8 },
    );
    for (const { log } of instances) expect(log()).not.toContain('unexpected');
  });
});
