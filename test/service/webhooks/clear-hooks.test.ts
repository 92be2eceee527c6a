import { afterEach, describe, expect, test } from 'vitest';
import { defaultHookQuotas, setHookQuotas } from '../../../src/service/outbox/hook-quotas.ts';
import { recordEvents } from '../../../src/service/outbox/outbox.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { clearHooks } from '../../../src/service/webhooks/clear-hooks.ts';
import { listHooks } from '../../../src/service/webhooks/hook-overview.ts';
import { removeHook } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { actor, hookedStorage } from './hooked-storage.ts';
import { lock } from './samples.ts';

const url = 'https://a.example.com/';

describe.each(databaseKinds)('hooks with many deliveries on $name', (kind) => {
  const { storage, hook, claim, settle, deliveries, statuses } = hookedStorage(kind);

  afterEach(() => setHookQuotas(storage, defaultHookQuotas));

  const count = 1_600;

  /** A hook with deliveries for 400 paths. The four of a path must be made one after the other. */
  async function loaded(): Promise<string> {
    const id = await hook(url);
    const events = Array.from({ length: count }, (_, index) => ({
      type: 'lock.acquired' as const,
      workspace: 'game',
      occurredAt: lock.acquired_at,
      data: { lock: { ...lock, path: `${index % (count / 4)}` } },
    }));
    await storage.commit({ workspace: 'game' }, (db) => recordEvents(db, storage.now, events));
    return id;
  }

  /** Ends like a stopping service after this number of transactions. */
  async function interruptedAfter(commits: number): Promise<void> {
    const stopping = new AbortController();
    let made = 0;
    const counted: Storage = {
      ...storage,
      async commit(scope, change) {
        const result = await storage.commit(scope, change);
        made += 1;
        if (made === commits) stopping.abort();
        return result;
      },
    };
    await clearHooks(counted, stopping.signal);
  }

  const finished = async (): Promise<number> => (await statuses()).filter((status) => status !== 'pending').length;

  test('a removed hook is gone at once, and its deliveries go in batches, also after a restart', async () => {
    const id = await loaded();
    await setHookQuotas(storage, { ...defaultHookQuotas, maxHooks: 1 });
    const claimed = await claim();
    await storage.commit({ workspace: 'game' }, (db) => removeHook(db, storage.now, { workspace: 'game', id, actor }));

    expect(await deliveries()).toHaveLength(count);
    expect(await listHooks(storage.read, 'game')).toEqual([]);
    const { secret, headers } = await storage.read.selectFrom('hooks').selectAll().executeTakeFirstOrThrow();
    expect([secret, headers]).toEqual(['', '{}']);
    expect(await settle(claimed, { kind: 'delivered' })).toBe(false);
    expect(await storage.read.selectFrom('hook_backlogs').selectAll().execute()).toEqual([]);
    const next = await hook(url);
    expect(next).not.toBe(id);

    await interruptedAfter(1);
    expect((await deliveries()).length).toBeGreaterThan(count / 2);
    expect((await deliveries()).length).toBeLessThan(count);
    await Promise.all([clearHooks(storage), clearHooks(storage)]);
    expect(await deliveries()).toEqual([]);
    expect(await storage.read.selectFrom('hooks').select('id').execute()).toEqual([{ id: next }]);
  });

  test('410 drops the waiting deliveries in batches, also after a restart', async () => {
    const id = await loaded();
    expect(await settle(await claim(), { kind: 'gone', reason: 'no' })).toBe(true);
    expect(await finished()).toBeLessThan(count / 4);
    await interruptedAfter(1);
    expect(await finished()).toBeLessThan(count / 2);
    await Promise.all([clearHooks(storage), clearHooks(storage)]);
    expect(await finished()).toBe(count);
    expect(await listHooks(storage.read, 'game')).toMatchObject([{ id, pending_deliveries: 0 }]);
  });

  test('a hook that is registered again before all are dropped gets the others, in order', async () => {
    const id = await loaded();
    await settle(await claim(), { kind: 'gone', reason: 'no' });
    await interruptedAfter(1);
    expect(await hook(url)).toBe(id);
    await clearHooks(storage);
    const left = (await deliveries()).filter(({ finished_at }) => finished_at === null);
    expect(await listHooks(storage.read, 'game')).toMatchObject([{ id, pending_deliveries: left.length }]);
    const firsts = new Map(left.toReversed().map((delivery) => [delivery.ordering_key, delivery.id]));
    const due = left.filter(({ next_attempt_at }) => next_attempt_at !== null).map(({ id }) => id);
    expect(due.toSorted()).toEqual([...firsts.values()].toSorted());
  });
});
