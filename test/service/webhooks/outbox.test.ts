import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HookEvent } from '../../../src/interface/resources.ts';
import { settleDelivery } from '../../../src/service/webhooks/delivery-queue.ts';
import { removeHook } from '../../../src/service/webhooks/hooks.ts';
import { recordEvent, recordEvents } from '../../../src/service/webhooks/outbox.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { claimNext } from './claim-next.ts';
import { acquireIn, actor, hookedStorage, made, releaseIn } from './hooked-storage.ts';
import { sync } from './samples.ts';

const [url, otherUrl] = ['https://a.example.com/', 'https://b.example.com/'];

describe.each(realDatabaseKinds)('the outbox on $name', (kind) => {
  const hooked = hookedStorage(kind);

  /** Which events wait for a hook. */
  const waitingFor = async (hook: string): Promise<HookEvent[]> =>
    (await hooked().deliveries()).filter(({ hook_id }) => hook_id === hook).map(({ event }) => event.type);

  const syncSucceeded = (branch: string) => {
    const { storage } = hooked();
    const event = { type: 'sync.succeeded', workspace: 'game', occurredAt: '2026-01-02T03:04:05.006Z' } as const;
    const subject = { orderingKey: `sync:${branch}`, branch };
    return storage.commit('global', (db) => recordEvent(db, storage.now, { ...event, data: { sync } }, subject));
  };

  const putToSleep = (hook: string) =>
    hooked().storage.commit('global', (db) =>
      db.updateTable('hooks').set({ active: 0 }).where('id', '=', hook).execute(),
    );

  test('each hook that asks for an event gets a delivery of its own, with an id of its own', async () => {
    const { hook, acquire, release, deliveries } = hooked();
    const all = await hook(url);
    const acquired = await hook(otherUrl, { events: ['lock.acquired', 'sync.failed'] });
    const syncs = await hook('https://c.example.com/', { events: ['sync.succeeded', 'sync.failed'] });
    await acquire('a');
    await release('a');
    await syncSucceeded('main');
    expect(await waitingFor(all)).toEqual(['lock.acquired', 'lock.released', 'sync.succeeded']);
    expect(await waitingFor(acquired)).toEqual(['lock.acquired']);
    expect(await waitingFor(syncs)).toEqual(['sync.succeeded']);
    expect(new Set((await deliveries()).map(({ id }) => id)).size).toBe(5);
  });

  test('a lock that has expired is told of before the one that takes its place, at the time when it ended', async () => {
    const { hook, acquire, storage, deliveries } = hooked();
    await hook(url);
    const first = await acquire('a');
    await storage.commit('global', (db) => db.updateTable('locks').set({ expires_at: 1_767_323_045_006 }).execute());
    const second = await acquire('a');
    const told = (await deliveries()).map(({ event }) => event);
    const expired = { ...first, expires_at: '2026-01-02T03:04:05.006Z' };
    expect(told).toEqual([
      expect.objectContaining({ type: 'lock.acquired', occurredAt: first.acquired_at, data: { lock: first } }),
      expect.objectContaining({ type: 'lock.expired', occurredAt: expired.expires_at, data: { lock: expired } }),
      expect.objectContaining({ type: 'lock.acquired', occurredAt: second.acquired_at, data: { lock: second } }),
    ]);
    expect(second.fence).toBeGreaterThan(first.fence);
  });

  test('of events that are put down together, the second of a path waits for the first', async () => {
    const { hook, storage, deliveries } = hooked();
    await hook(url);
    await hook(otherUrl);
    const data = { lock: await hooked().acquire('a') };
    const ofLock = (type: 'lock.acquired' | 'lock.expired', path: string) => ({
      event: { type, workspace: 'game', occurredAt: '2026-01-02T03:04:05.006Z', data } as const,
      subject: { orderingKey: `lock:${path}`, branch: null },
    });
    await storage.commit('global', (db) =>
      recordEvents(db, storage.now, [
        ofLock('lock.expired', 'b'),
        ofLock('lock.acquired', 'b'),
        ofLock('lock.expired', 'c'),
      ]),
    );
    const due = (await deliveries())
      .slice(2)
      .map(({ event, ordering_key, next_attempt_at }) => [event.type, ordering_key, next_attempt_at !== null]);
    expect(due).toEqual([
      ...[1, 2].map(() => ['lock.expired', 'lock:b', true]),
      ...[1, 2].map(() => ['lock.acquired', 'lock:b', false]),
      ...[1, 2].map(() => ['lock.expired', 'lock:c', true]),
    ]);
  });

  test('a hook of another workspace hears nothing', async () => {
    const { hook, acquire, storage } = hooked();
    await storage.commit('global', (db) =>
      db
        .insertInto('workspaces')
        .values({ id: 'film', remote: '', created_at: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
    const elsewhere = await hook(url, { workspace: 'film' });
    await acquire('a');
    expect(await waitingFor(elsewhere)).toEqual([]);
  });

  test('a hook with branches hears of syncs of these, and of locks, which have none', async () => {
    const { hook, acquire } = hooked();
    const some = await hook(url, { branches: ['main', 'art/hero'] });
    const any = await hook(otherUrl, { branches: null });
    for (const branch of ['main', 'Main', 'art', 'art/hero']) await syncSucceeded(branch);
    await acquire('a');
    expect(await waitingFor(some)).toEqual(['sync.succeeded', 'sync.succeeded', 'lock.acquired']);
    expect(await waitingFor(any)).toHaveLength(5);
  });

  test('a hook that sleeps hears nothing until it is registered again', async () => {
    const { hook, acquire, release } = hooked();
    const id = await hook(url);
    await putToSleep(id);
    await acquire('a');
    expect(await waitingFor(id)).toEqual([]);
    expect(await hook(url)).toBe(id);
    await release('a');
    expect(await waitingFor(id)).toEqual(['lock.released']);
  });

  test('a hook that is registered again hears what it asks for now, and gets what was already waiting', async () => {
    const { hook, acquire, release } = hooked();
    const id = await hook(url, { events: ['lock.acquired'] });
    await acquire('a');
    await hook(url, { events: ['lock.released'] });
    await acquire('b');
    await release('a');
    expect(await waitingFor(id)).toEqual(['lock.acquired', 'lock.released']);
  });

  test('a removed hook leaves no delivery behind, nor does one that is under way come back', async () => {
    const { hook, acquire, release, deliveries, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    const claimed = await claimNext(storage);
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    expect(await storage.commit('global', (db) => removeHook(db, storage.now, { workspace: 'film', id, actor }))).toBe(
      false,
    );
    expect(await storage.commit('global', (db) => removeHook(db, storage.now, { workspace: 'game', id, actor }))).toBe(
      true,
    );
    expect(await storage.commit('global', (db) => removeHook(db, storage.now, { workspace: 'game', id, actor }))).toBe(
      false,
    );
    await release('a');
    const end = { kind: 'retry', afterMs: 0, why: '' } as const;
    expect(await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, made))).toBe(false);
    expect(await deliveries()).toEqual([]);
  });

  test('what is committed is told, and what is undone is not', async () => {
    const { hook, storage, deliveries } = hooked();
    await hook(url);
    const steps = fc.array(fc.record({ path: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() }), { maxLength: 20 });
    await fc.assert(
      fc
        .asyncProperty(steps, async (changes) => {
          const held = new Set<string>();
          const expected: string[] = [];
          const done: Promise<unknown>[] = [];
          for (const { path, fails } of changes) {
            const [change, type] = held.has(path)
              ? ([releaseIn, 'lock.released'] as const)
              : ([acquireIn, 'lock.acquired'] as const);
            const committed = storage.commit('global', async (db) => {
              await change(db, storage, path);
              // As when a statement fails that comes later in the same change.
              if (fails) await db.insertInto('fences').values({ workspace_id: '', value: 0 }).execute();
            });
            done.push(fails ? expect(committed).rejects.toThrow() : committed);
            if (fails) continue;
            expected.push(`${type} ${path}`);
            if (type === 'lock.acquired') held.add(path);
            else held.delete(path);
          }
          await Promise.all(done);
          expect(
            (await deliveries()).map(({ event, ordering_key }) => `${event.type} ${ordering_key.slice(5)}`),
          ).toEqual(expected);
        })
        .afterEach(() =>
          storage.commit('global', async (db) => {
            await db.deleteFrom('deliveries').execute();
            await db.deleteFrom('locks').execute();
          }),
        ),
      { numRuns: 30 },
    );
  });

  test('of the deliveries to one hook with one key the first is due, whatever becomes of those before', async () => {
    const { hook, storage } = hooked();
    const hooks = [await hook(url), await hook(otherUrl)];
    const operations = fc.array(
      fc.oneof(
        { weight: 2, arbitrary: fc.record({ does: fc.constant('event' as const), path: fc.constantFrom('a', 'b') }) },
        {
          weight: 3,
          arbitrary: fc.record({
            does: fc.constant('attempt' as const),
            end: fc.constantFrom('delivered' as const, 'retry' as const, 'given-up' as const),
          }),
        },
        { weight: 1, arbitrary: fc.record({ does: fc.constant('gone' as const) }) },
      ),
      { maxLength: 30 },
    );

    async function event(path: string): Promise<void> {
      const held = await storage.read.selectFrom('locks').select('id').where('path', '=', path).executeTakeFirst();
      await (held === undefined ? hooked().acquire(path) : hooked().release(path));
    }
    async function attempt(kind: 'delivered' | 'retry' | 'given-up' | 'gone'): Promise<void> {
      const claimed = await claimNext(storage);
      if (claimed === undefined) return;
      const end = { kind, why: 'no', afterMs: 0 };
      expect(await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, made))).toBe(true);
      // So that there is something left to tell in the steps that follow.
      if (kind === 'gone') await Promise.all([hook(url), hook(otherUrl)]);
    }

    await fc.assert(
      fc
        .asyncProperty(operations, async (steps) => {
          for (const step of steps) {
            if (step.does === 'event') await event(step.path);
            else await attempt(step.does === 'gone' ? 'gone' : step.end);
            const rows = await hooked().deliveries();
            const unfinished = rows.filter(({ finished_at }) => finished_at === null);
            const lines = hooks.flatMap((id) =>
              ['lock:a', 'lock:b'].map((key) =>
                unfinished.filter(({ hook_id, ordering_key }) => hook_id === id && ordering_key === key),
              ),
            );
            for (const [first, ...others] of lines) {
              if (first !== undefined) expect(first.next_attempt_at).not.toBeNull();
              expect(others.every(({ next_attempt_at }) => next_attempt_at === null)).toBe(true);
            }
            const over = rows.filter(({ finished_at }) => finished_at !== null);
            expect(over.every(({ next_attempt_at, status }) => next_attempt_at === null && status !== 'pending')).toBe(
              true,
            );
          }
        })
        .afterEach(() =>
          storage.commit('global', async (db) => {
            await db.deleteFrom('deliveries').execute();
            await db.deleteFrom('locks').execute();
          }),
        ),
      { numRuns: 15 },
    );
  });
});
