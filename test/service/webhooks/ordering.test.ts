import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClaimedDelivery, DeliveryEnd } from '../../../src/service/webhooks/delivery-queue.ts';
import { listHooks } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { claimNext, hookedStorage } from './hooked-storage.ts';

/** Steps that deliveries can go through, at any time and in any order. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('event' as const), path: fc.constantFrom('a', 'b') }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('claim' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('settle' as const),
      which: fc.nat(),
      end: fc.constantFrom<DeliveryEnd['kind']>('delivered', 'delivered', 'retry', 'given-up', 'gone'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('register' as const), which: fc.nat() }) },
);

describe.each(databaseKinds)('the order of deliveries on $name', (kind) => {
  const { acquire, release, hook, storage, clear, settle, deliveries } = hookedStorage(kind);

  test('only the first event of each path is due, the backlog count is right, and every delivery ends', async () => {
    async function holds(): Promise<void> {
      const unfinished = await deliveries();
      const lines = Map.groupBy(unfinished, ({ hook_id, ordering_key }) => `${hook_id} ${ordering_key}`);
      for (const [first, ...others] of lines.values()) {
        expect(first?.next_attempt_at).not.toBeNull();
        for (const other of others) expect([other.next_attempt_at, other.claimed_by]).toEqual([null, null]);
      }
      for (const { id, pending_deliveries } of await listHooks(storage.read, 'game')) {
        expect(pending_deliveries).toBe(unfinished.filter(({ hook_id }) => hook_id === id).length);
      }
    }

    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
          const urls = ['https://a.example.com/', 'https://b.example.com/'];
          for (const url of urls) await hook(url);
          const held = new Set<string>();
          const inactive = new Set<string>();
          let running: ClaimedDelivery[] = [];
          for (const next of steps) {
            switch (next.does) {
              case 'event':
                await (held.has(next.path) ? release(next.path) : acquire(next.path));
                if (!held.delete(next.path)) held.add(next.path);
                break;
              case 'claim': {
                const claimed = await claimNext(storage);
                if (claimed === undefined) break;
                expect(inactive.has(claimed.hook.url)).toBe(false);
                running.push(claimed);
                break;
              }
              case 'settle': {
                const [claimed] = running.splice(next.which % Math.max(1, running.length), 1);
                if (claimed === undefined) break;
                expect(await settle(claimed, { kind: next.end, reason: 'no', afterMs: 0 })).toBe(true);
                if (next.end !== 'gone') break;
                // Other running attempts to its receiver are dropped.
                running = running.filter(({ hook: { id } }) => id !== claimed.hook.id);
                inactive.add(claimed.hook.url);
                break;
              }
              case 'register': {
                const url = urls[next.which % urls.length] ?? '';
                // A claim from before a new registration of an active hook cannot end it.
                if (inactive.has(url)) await hook(url);
                inactive.delete(url);
                break;
              }
            }
            await holds();
          }
          for (const url of urls) await hook(url);
          for (const claimed of running) expect(await settle(claimed, { kind: 'delivered' })).toBe(true);
          for (let last = await claimNext(storage); last !== undefined; last = await claimNext(storage)) {
            await settle(last, { kind: 'delivered' });
          }
          expect(await deliveries()).toEqual([]);
        })
        .afterEach(clear),
      { numRuns: runs(kind.name === 'SQLite' ? 12 : 6, 80) },
    );
  });
});
