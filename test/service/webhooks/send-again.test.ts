import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ClaimedDelivery,
  type DeliveryEnd,
  settleDelivery,
} from '../../../src/service/webhooks/delivery-queue.ts';
import { pauseHook, resumeHook } from '../../../src/service/webhooks/pause-hook.ts';
import { sendAgain } from '../../../src/service/webhooks/send-again.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { auditOf } from './audited.ts';
import { claimNext } from './claim-next.ts';
import { receiver } from './delivering.ts';
import { attemptNext } from './delivery-workers.ts';
import { idOf } from './hooked-service.ts';
import { actor, hookedStorage, made } from './hooked-storage.ts';

const url = 'https://a.example.com/p4th-secret?key=s3cret';
const retry: DeliveryEnd = { kind: 'retry', why: 'no', afterMs: 3_600_000 };
const delivered: DeliveryEnd = { kind: 'delivered' };

describe.each(realDatabaseKinds)('sending a delivery again on $name', (kind) => {
  const hooked = hookedStorage(kind);

  const again = (hook: string, delivery: string, workspace = 'game') => {
    const { storage } = hooked();
    return storage.commit('global', (db) => sendAgain(db, storage.now, { workspace, hook, delivery, actor }));
  };
  const claim = async (): Promise<ClaimedDelivery> => {
    const claimed = await claimNext(hooked().storage);
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    return claimed;
  };
  const settle = (claimed: ClaimedDelivery, end: DeliveryEnd) => {
    const { storage } = hooked();
    return storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, made));
  };
  const pause = (id: string) => {
    const { storage } = hooked();
    return storage.commit('global', (db) => pauseHook(db, storage.now, { workspace: 'game', id, actor }));
  };
  const resume = (id: string) => {
    const { storage } = hooked();
    return storage.commit('global', (db) => resumeHook(db, storage.now, { workspace: 'game', id, actor }));
  };
  const ids = async () => (await hooked().deliveries()).map(({ id }) => id);
  const atOnce = { kind: 'sent-again', due: 'at-once' };
  const refusal = (words: string) => ({ kind: 'refused', why: expect.stringContaining(words) });

  test('one that was delivered arrives again under its id, and once more only', async () => {
    const { hook, acquire, storage, deliveries } = hooked();
    const to = await receiver();
    const id = await hook(to.url());
    await acquire('a');
    await attemptNext(storage);
    const [delivery = ''] = await ids();
    for (const status of [204, 500]) {
      to.behave({ does: 'answer', status });
      expect(await again(id, delivery)).toEqual(atOnce);
      expect(await attemptNext(storage)).toBe(true);
      expect(await attemptNext(storage)).toBe(false);
    }
    expect(to.deliveries.map(idOf)).toEqual([delivery, delivery, delivery]);
    expect(new Set(to.deliveries.map(({ body }) => body)).size).toBe(1);
    expect(await deliveries()).toMatchObject([
      { status: 'failed', attempts: 3, next_attempt_at: null, last_error: expect.stringContaining('500') },
    ]);
    expect(await again(id, delivery)).toEqual(atOnce);
    to.behave({ does: 'answer', status: 204 });
    await attemptNext(storage);
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 4, last_error: null }]);
  });

  test('one that waits for its next attempt does not wait any more, and keeps its schedule', async () => {
    const { hook, acquire, deliveries } = hooked();
    const id = await hook(url);
    await acquire('a');
    const first = await claim();
    await settle(first, retry);
    expect(await claimNext(hooked().storage)).toBeUndefined();
    expect(await again(id, first.id)).toEqual(atOnce);
    const second = await claim();
    expect(second).toMatchObject({ id: first.id, attempts: 1, again: false });
    await settle(second, retry);
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: 2 }]);
  });

  test('is refused while an attempt is under way, until the instance that makes it is taken for dead', async () => {
    const { hook, acquire, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    const claimed = await claim();
    expect(await again(id, claimed.id)).toEqual(refusal('in progress'));
    await storage.commit('global', (db) => db.updateTable('deliveries').set({ lease_until: 1 }).execute());
    expect(await again(id, claimed.id)).toEqual(atOnce);
    expect(await settle(claimed, delivered)).toBe(false);
    expect((await claim()).id).toBe(claimed.id);
  });

  test('is refused while its hook is paused, or ended by its receiver', async () => {
    const { hook, acquire } = hooked();
    const id = await hook(url);
    await acquire('a');
    const claimed = await claim();
    await settle(claimed, delivered);
    await pause(id);
    expect(await again(id, claimed.id)).toEqual(refusal('paused'));
    await resume(id);
    await acquire('b');
    await settle(await claim(), { kind: 'gone', why: 'no' });
    expect(await again(id, claimed.id)).toEqual(refusal('410'));
    await resume(id);
    expect(await again(id, claimed.id)).toEqual(atOnce);
  });

  test('a later one about the same path steps back, and is due as soon as that is over', async () => {
    const { hook, acquire, release, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    const first = await claim();
    await settle(first, delivered);
    await release('a');
    const second = await claim();
    await settle(second, retry);
    expect(await again(id, first.id)).toEqual(atOnce);
    expect(await again(id, second.id)).toEqual(refusal('earlier delivery'));
    const repeated = await claim();
    expect(repeated.id).toBe(first.id);
    expect(await claimNext(storage)).toBeUndefined();
    await settle(repeated, delivered);
    expect(await claim()).toMatchObject({ id: second.id, attempts: 1 });
  });

  test('is refused while an attempt at a later one about the same path is under way, and of another path it is not', async () => {
    const { hook, acquire, release } = hooked();
    const id = await hook(url);
    await acquire('a');
    await acquire('b');
    const [first, other] = [await claim(), await claim()];
    await settle(first, delivered);
    await settle(other, delivered);
    await release('a');
    const second = await claim();
    expect(await again(id, first.id)).toEqual(refusal('later delivery'));
    expect(await again(id, other.id)).toEqual(atOnce);
    await settle(second, delivered);
    expect(await again(id, first.id)).toEqual(atOnce);
  });

  test('of several that are sent again the order stays that of their events', async () => {
    const { hook, acquire, release, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    await settle(await claim(), delivered);
    await release('a');
    await settle(await claim(), delivered);
    const [acquired = '', released = ''] = await ids();
    expect(await again(id, acquired)).toEqual(atOnce);
    expect(await again(id, released)).toEqual({ kind: 'sent-again', due: 'after-another' });
    const first = await claim();
    expect(first.id).toBe(acquired);
    expect(await claimNext(storage)).toBeUndefined();
    await settle(first, { kind: 'given-up', why: 'no' });
    expect((await claim()).id).toBe(released);
  });

  test('what is not there, or of another hook or workspace, is not sent', async () => {
    const { hook, acquire } = hooked();
    const id = await hook(url);
    await acquire('a');
    const { id: delivery } = await claim();
    const other = await hook('https://b.example.com/');
    const absent = { kind: 'absent' };
    expect(await again(id, 'msg_none')).toEqual(absent);
    expect(await again(other, delivery)).toEqual(absent);
    expect(await again('hook_none', delivery)).toEqual(absent);
    expect(await again(id, delivery, 'film')).toEqual(absent);
  });

  test('the audit tells who did it, not of what was refused, and nothing secret', async () => {
    const { hook, acquire, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    const claimed = await claim();
    await again(id, claimed.id);
    await settle(claimed, delivered);
    await again(id, claimed.id);
    const acts = (await auditOf(storage, id)).filter(({ action }) => action === 'delivery.sent-again');
    expect(acts).toEqual([
      {
        action: 'delivery.sent-again',
        actor: 'ada',
        token_id: 'tok_1',
        detail: { workspace: 'game', hook: id, origin: 'https://a.example.com', delivery: claimed.id },
      },
    ]);
  });

  test('whatever is sent again, paused and attempted, the first of each path alone is due, and everything comes to its end', async () => {
    const { hook, acquire, release, storage } = hooked();
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ does: fc.constant('event' as const), path: fc.constantFrom('a', 'b') }) },
      { weight: 4, arbitrary: fc.record({ does: fc.constant('claim' as const) }) },
      {
        weight: 4,
        arbitrary: fc.record({
          does: fc.constant('settle' as const),
          which: fc.nat(),
          end: fc.constantFrom('delivered' as const, 'retry' as const, 'given-up' as const),
        }),
      },
      { weight: 5, arbitrary: fc.record({ does: fc.constant('again' as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('pause' as const, 'resume' as const) }) },
    );

    async function holds(): Promise<void> {
      const rows = await hooked().deliveries();
      const unfinished = rows.filter(({ finished_at }) => finished_at === null);
      for (const [first, ...others] of Map.groupBy(unfinished, (row) => row.ordering_key).values()) {
        expect(first?.next_attempt_at).not.toBeNull();
        for (const other of others) expect([other.next_attempt_at, other.lease_owner]).toEqual([null, null]);
      }
      for (const row of rows) {
        if (row.finished_at === null) expect(row.status).toMatch(/^(pending|again)$/);
        else expect(row).toMatchObject({ status: expect.stringMatching(/^(delivered|failed)$/), lease_owner: null });
      }
    }

    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const id = await hook(url);
          const held = new Set<string>();
          const underWay: ClaimedDelivery[] = [];
          for (const next of steps) {
            switch (next.does) {
              case 'event':
                await (held.has(next.path) ? release(next.path) : acquire(next.path));
                if (!held.delete(next.path)) held.add(next.path);
                break;
              case 'claim': {
                const claimed = await claimNext(storage);
                if (claimed !== undefined) underWay.push(claimed);
                break;
              }
              case 'settle': {
                const [claimed] = underWay.splice(next.which % Math.max(1, underWay.length), 1);
                if (claimed === undefined) break;
                expect(await settle(claimed, { kind: next.end, why: 'no', afterMs: 0 })).toBe(true);
                break;
              }
              case 'again': {
                const all = await ids();
                if (all.length > 0) await again(id, all[next.which % all.length] ?? '');
                break;
              }
              case 'pause':
                await pause(id);
                break;
              case 'resume':
                await resume(id);
                break;
            }
            await holds();
          }
          await resume(id);
          for (const claimed of underWay) expect(await settle(claimed, delivered)).toBe(true);
          for (let last = await claimNext(storage); last !== undefined; ) {
            await settle(last, delivered);
            last = await claimNext(storage);
          }
          expect((await hooked().deliveries()).filter(({ finished_at }) => finished_at === null)).toEqual([]);
        })
        .afterEach(() =>
          storage.commit('global', async (db) => {
            await db.deleteFrom('hooks').execute();
            await db.deleteFrom('locks').execute();
          }),
        ),
      { numRuns: runs(kind.name === 'SQLite' ? 25 : 8, 150) },
    );
  });
});
