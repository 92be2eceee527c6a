import { describe, expect, test } from 'vitest';
import type { HookEvent } from '../../../src/interface/resources.ts';
import {
  changeBacklogs,
  maxWaitingDeliveries,
  measureBacklogs,
  recordEvents,
} from '../../../src/service/outbox/outbox.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { listHooks, removeHook } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows, storeWorkspace } from '../../support/stored-rows.ts';
import { actor, hookedStorage } from './hooked-storage.ts';
import { succeeded, sync } from './samples.ts';

const [url, otherUrl, thirdUrl] = ['https://a.example.com/', 'https://b.example.com/', 'https://c.example.com/'];

describe.each(databaseKinds)('the outbox on $name', (kind) => {
  const { storage, hook, acquire, release, deliveries, claim, settle } = hookedStorage(kind);

  /** The events that wait for a hook. */
  const waitingFor = async (hook: string): Promise<HookEvent[]> =>
    (await deliveries()).filter(({ hook_id }) => hook_id === hook).map(({ event }) => event.type);

  const syncSucceeded = (branch: string) => {
    const event = { type: 'sync.succeeded', workspace: 'game', occurredAt: '2026-01-02T03:04:05.006Z' } as const;
    return storage.commit('global', (db) =>
      recordEvents(db, [{ ...event, data: { ...succeeded.data, sync: { ...sync, branch } } }]),
    );
  };

  test('each hook that subscribes to an event gets its own delivery with its own id', async () => {
    await storeWorkspace(storage, { id: 'film', remote: '' });
    const all = await hook(url);
    const acquired = await hook(otherUrl, { events: ['lock.acquired', 'sync.failed'] });
    const syncs = await hook(thirdUrl, { events: ['sync.succeeded', 'sync.failed'] });
    const elsewhere = await hook(url, { workspace: 'film' });
    await acquire('a');
    await release('a');
    await syncSucceeded('main');
    expect(await waitingFor(all)).toEqual(['lock.acquired', 'lock.released', 'sync.succeeded']);
    expect(await waitingFor(acquired)).toEqual(['lock.acquired']);
    expect(await waitingFor(syncs)).toEqual(['sync.succeeded']);
    expect(await waitingFor(elsewhere)).toEqual([]);
    expect(new Set((await deliveries()).map(({ id }) => id)).size).toBe(5);
  });

  test('an expired lock is sent before its successor, with the time of its expiry', async () => {
    await hook(url);
    const first = await acquire('a');
    await changeRows(storage, 'locks', { expires_at: 1_767_323_045_006 });
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

  test('the second of two events of a path in one batch waits for the first', async () => {
    await hook(url);
    await hook(otherUrl);
    const held = await acquire('a');
    const occurredAt = '2026-01-02T03:04:05.006Z';
    const ofLock = (type: 'lock.acquired' | 'lock.expired', path: string) =>
      ({ type, workspace: 'game', occurredAt, data: { lock: { ...held, path } } }) as const;
    await storage.commit('global', (db) =>
      recordEvents(db, [ofLock('lock.expired', 'b'), ofLock('lock.acquired', 'b'), ofLock('lock.expired', 'c')]),
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

  test('a hook with branches gets only syncs of those branches, and all lock events', async () => {
    const some = await hook(url, { branches: ['main', 'art/hero'] });
    const any = await hook(otherUrl, { branches: null });
    for (const branch of ['main', 'Main', 'art', 'art/hero']) await syncSucceeded(branch);
    await acquire('a');
    expect(await waitingFor(some)).toEqual(['sync.succeeded', 'sync.succeeded', 'lock.acquired']);
    expect(await waitingFor(any)).toHaveLength(5);
  });

  test('one change queues a limited number of deliveries for all hooks together, and counts the others', async () => {
    const held = await acquire('held');
    const hooks = [await hook(url), await hook(otherUrl)];
    const event = { type: 'lock.acquired', workspace: 'game', occurredAt: '2026-01-02T03:04:05.006Z' } as const;
    const events = Array.from({ length: 25_100 }, (_, n) => ({ ...event, data: { lock: { ...held, path: `${n}` } } }));
    await storage.commit({ workspace: 'game' }, (db) => recordEvents(db, events));
    const expected = { pending_deliveries: 25_000, dropped_events: 100 };
    for (const id of hooks) expect(await overviewOf(id)).toMatchObject(expected);
  }, 60_000);

  test('a removed hook leaves no delivery behind, even if an attempt is running', async () => {
    const id = await hook(url);
    const remove = (workspace: string) => storage.commit('global', (db) => removeHook(db, { workspace, id, actor }));
    await acquire('a');
    const claimed = await claim();
    expect([await remove('film'), await remove('game'), await remove('game')]).toEqual([false, true, false]);
    await release('a');
    expect(await settle(claimed, { kind: 'retry', afterMs: 0, reason: '' })).toBe(false);
    expect(await deliveries()).toEqual([]);
  });

  test('a damaged list of branches stops no change of a lock', async () => {
    const id = await hook(url);
    await changeRows(storage, 'hooks', { branches: '{' }, { id });
    await acquire('a');
    expect(await deliveries()).toHaveLength(1);
  });

  const measured = async (): Promise<readonly (number | undefined)[]> => {
    const metrics = createMetrics();
    await measureBacklogs(storage, metrics);
    const gauges = [await metrics.mostWaiting.get(), await metrics.droppedEvents.get()];
    return gauges.map(({ values: [first] }) => first?.value);
  };

  test('without hooks, no delivery is measured as waiting or dropped', async () => {
    expect(await measured()).toEqual([0, 0]);
  });

  const overviewOf = async (hook: string) => (await listHooks(storage.read, 'game')).find(({ id }) => id === hook);

  test('drops and counts events for a hook with a full queue, while other hooks get them', async () => {
    const full = await hook(url);
    // Full, except for three deliveries.
    const filling = { hookId: full, added: maxWaitingDeliveries - 3, dropped: 0 };
    await storage.commit('global', (db) => changeBacklogs(db, [filling]));
    for (const path of ['a', 'b', 'c']) await acquire(path);
    expect((await overviewOf(full))?.dropped_events).toBe(0);
    const empty = await hook('https://b.example.com/');
    for (const path of ['d', 'e']) await acquire(path);
    expect(await waitingFor(full)).toHaveLength(3);
    expect(await waitingFor(empty)).toHaveLength(2);
    expect(await overviewOf(full)).toMatchObject({ pending_deliveries: maxWaitingDeliveries, dropped_events: 2 });
    expect((await overviewOf(empty))?.dropped_events).toBe(0);
    expect(await measured()).toEqual([maxWaitingDeliveries, 2]);

    // New events are recorded as soon as there is room.
    await settle(await claim(), { kind: 'delivered' });
    await acquire('f');
    expect(await waitingFor(full)).toHaveLength(3);
    expect((await overviewOf(full))?.dropped_events).toBe(2);
  });
});
