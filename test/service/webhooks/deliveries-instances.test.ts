import { describe, expect, test } from 'vitest';
import { endAllClaims } from '../../../src/service/storage/claim.ts';
import type { ClaimedDelivery, DeliveryEnd } from '../../../src/service/webhooks/delivery-queue.ts';
import { databaseKinds } from '../../support/databases.ts';
import { findRows } from '../../support/stored-rows.ts';
import { claimNext, hookedStorage } from './hooked-storage.ts';

describe.each(databaseKinds)('deliveries of several instances on $name', (kind) => {
  const { storage, deliveries, due, release, claim, settle, waiting, setDeliveries } = hookedStorage(kind);

  /** Simulates the death of the instance that holds the claims. */
  const endClaims = () => setDeliveries({ claimed_until: 1 });

  test.each<DeliveryEnd>([
    { kind: 'delivered' },
    { kind: 'retry', afterMs: 60_000, reason: 'late' },
    { kind: 'given-up', reason: 'late' },
    { kind: 'gone', reason: 'late' },
  ])('an instance that has lost its claim cannot settle the delivery: $kind', async (end) => {
    await due();
    await release('a');
    const late = await claim();
    await endClaims();
    const owner = await claim();
    const before = await deliveries();
    expect(await settle(late, end)).toBe(false);
    expect(await deliveries()).toEqual(before);
    expect(await findRows(storage, 'hooks')).toMatchObject([{ active: 1 }]);

    expect(await settle(owner, { kind: 'delivered' })).toBe(true);
    expect(await settle(late, end)).toBe(false);
    expect(await waiting()).toBe(1);
  });

  test('deliveries of an earlier process are due at once if it was the only instance', async () => {
    await due();
    const left = await claim();
    await endAllClaims(storage);
    expect((await claim()).id).toBe(left.id);
    expect(await settle(left, { kind: 'delivered' })).toBe(false);
  });

  test('parallel claims never get the same delivery, nor two of the same path', async () => {
    const paths = Array.from({ length: 30 }, (_, index) => `file-${index}`);
    await due({ paths });
    await Promise.all(paths.map(release));
    const claimed: ClaimedDelivery[] = [];
    async function claimAll(): Promise<void> {
      // A claim that finds nothing may have collided with another one: it retries until all first ones are claimed.
      while (claimed.length < paths.length) {
        const next = await claimNext(storage);
        if (next !== undefined) claimed.push(next);
      }
    }
    await Promise.all([claimAll(), claimAll(), claimAll(), claimAll()]);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(paths.length);
    expect(new Set(claimed.map(({ event }) => JSON.parse(event).type))).toEqual(new Set(['lock.acquired']));
    expect(await claimNext(storage)).toBeUndefined();
  });
});
