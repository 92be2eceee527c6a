import { describe, expect, test } from 'vitest';
import { removeOldDeliveries, settleDelivery } from '../../../src/service/webhooks/delivery-queue.ts';
import { findHook, inactiveWhyOf } from '../../../src/service/webhooks/hooks.ts';
import { pauseHook, resumeHook } from '../../../src/service/webhooks/pause-hook.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { auditOf } from './audited.ts';
import { claimNext } from './claim-next.ts';
import { receiver } from './delivering.ts';
import { attemptNext } from './delivery-workers.ts';
import { actor, hookedStorage, made } from './hooked-storage.ts';

const [url, otherUrl] = ['https://a.example.com/', 'https://b.example.com/'];
const day = 24 * 60 * 60 * 1_000;

describe.each(realDatabaseKinds)('pausing a hook on $name', (kind) => {
  const hooked = hookedStorage(kind);

  const pause = (id: string, workspace = 'game') => {
    const { storage } = hooked();
    return storage.commit('global', (db) => pauseHook(db, storage.now, { workspace, id, actor }));
  };
  const resume = (id: string, workspace = 'game') => {
    const { storage } = hooked();
    return storage.commit('global', (db) => resumeHook(db, storage.now, { workspace, id, actor }));
  };
  const claim = async () => {
    const claimed = await claimNext(hooked().storage);
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    return claimed;
  };
  const stateOf = async (id: string) => {
    const row = await findHook(hooked().storage.read, 'game', id);
    return row === undefined ? undefined : { active: row.active, why: row.inactive_why, updated: row.updated_at };
  };
  const told = async (id: string) =>
    (await hooked().deliveries())
      .filter(({ hook_id }) => hook_id === id)
      .map(({ status, event }) => [status, event.type]);

  test('what happens meanwhile is not for it, what waits is held, and both go on for other hooks', async () => {
    const { hook, acquire, release, storage } = hooked();
    const [id, other] = [await hook(url), await hook(otherUrl)];
    await acquire('a');
    await release('a');
    expect(await pause(id)).toMatchObject({ kind: 'paused', hook: { id, active: false } });
    await acquire('b');
    expect(await told(id)).toEqual([
      ['pending', 'lock.acquired'],
      ['pending', 'lock.released'],
    ]);
    for (let number = 0; number < 3; number += 1) {
      const claimed = await claim();
      expect(claimed.hook.id).toBe(other);
      const end = { kind: 'delivered' } as const;
      await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, made));
    }
    expect(await claimNext(storage)).toBeUndefined();

    expect(await resume(id)).toMatchObject({ kind: 'resumed', wasInactive: 'paused', hook: { id, active: true } });
    const held = await claim();
    expect([held.hook.id, held.event.type]).toEqual([id, 'lock.acquired']);
    await storage.commit('global', (db) => settleDelivery(db, storage.now, held, { kind: 'delivered' }, made));
    expect((await claim()).event.type).toBe('lock.released');
    await acquire('c');
    expect((await told(id)).at(-1)).toEqual(['pending', 'lock.acquired']);
  });

  test('an attempt that is under way ends as it would have, and the next of its path is held', async () => {
    const { hook, acquire, release, storage, deliveries } = hooked();
    const id = await hook(url);
    await acquire('a');
    await release('a');
    await acquire('b');
    const [first, second] = [await claim(), await claim()];
    await pause(id);
    expect(
      await storage.commit('global', (db) => settleDelivery(db, storage.now, first, { kind: 'delivered' }, made)),
    ).toBe(true);
    const retry = { kind: 'retry', afterMs: 0, why: 'no' } as const;
    expect(await storage.commit('global', (db) => settleDelivery(db, storage.now, second, retry, made))).toBe(true);
    expect((await deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['delivered', 1],
      ['pending', 0],
      ['pending', 1],
    ]);
    expect(await claimNext(storage)).toBeUndefined();
    await resume(id);
    expect(new Set([(await claim()).event.type, (await claim()).event.type])).toEqual(
      new Set(['lock.released', 'lock.acquired']),
    );
  });

  test('410 to an attempt that was under way ends the hook all the same, also when it was resumed meanwhile', async () => {
    const { hook, acquire, storage, deliveries } = hooked();
    for (const resumed of [false, true]) {
      const id = await hook(url);
      await acquire(`a/${resumed}`);
      await acquire(`b/${resumed}`);
      const claimed = await claim();
      await pause(id);
      if (resumed) await resume(id);
      const gone = { kind: 'gone', why: 'no' } as const;
      expect(await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, gone, made))).toBe(true);
      expect(await stateOf(id)).toMatchObject({ active: 0, why: 'gone' });
      expect((await deliveries()).slice(-2).map(({ status }) => status)).toEqual(['failed', 'dropped']);
    }
  });

  test('however long something is held, it is not removed, and has its whole time when the hook is resumed or registered again', async () => {
    const { hook, acquire, storage, deliveries } = hooked();
    const to = await receiver();
    to.behave({ does: 'answer', status: 500 });
    const old = (at: number) =>
      storage.commit('global', (db) => db.updateTable('deliveries').set({ created_at: at }).execute());
    const outcome = async () => {
      expect(await attemptNext(storage)).toBe(true);
      return (await deliveries()).at(-1)?.status;
    };
    for (const wake of [resume, () => hook(to.url())]) {
      const id = await hook(to.url());
      await acquire(`held/${wake.length}`);
      await pause(id);
      await old(Date.now() - 30 * day);
      await removeOldDeliveries(storage);
      await wake(id);
      expect(await outcome()).toBe('pending');
      // Waking a hook that is awake gives no time: a dead receiver's queue has to have an end.
      await storage.commit('global', (db) =>
        db
          .updateTable('hooks')
          .set({ resumed_at: Date.now() - 29 * day })
          .execute(),
      );
      await wake(id);
      await storage.commit('global', (db) => db.updateTable('deliveries').set({ next_attempt_at: 0 }).execute());
      expect(await outcome()).toBe('failed');
      await storage.commit('global', (db) => db.deleteFrom('deliveries').execute());
    }
  });

  test('registering it again wakes it', async () => {
    const { hook, acquire, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    await pause(id);
    expect(await hook(url)).toBe(id);
    expect(await stateOf(id)).toMatchObject({ active: 1, why: null });
    expect((await claim()).hook.id).toBe(id);
    expect((await auditOf(storage, id)).at(-1)).toMatchObject({
      action: 'hook.replaced',
      detail: { was_inactive: 'paused', new_secret: true },
    });
  });

  test('a hook whose receiver wanted nothing more cannot be paused, but woken', async () => {
    const { hook, acquire, storage } = hooked();
    const id = await hook(url);
    await acquire('a');
    const claimed = await claim();
    await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, { kind: 'gone', why: 'no' }, made));
    expect(await pause(id)).toMatchObject({ kind: 'inactive-already', why: 'gone' });
    expect(await stateOf(id)).toMatchObject({ active: 0, why: 'gone' });
    expect(await resume(id)).toMatchObject({ kind: 'resumed', wasInactive: 'gone', hook: { active: true } });
    await acquire('b');
    expect((await claim()).event.data).toMatchObject({ lock: { path: 'b' } });
  });

  test('a hook that an earlier version has put to sleep, without a reason, was ended by its receiver', async () => {
    const { hook, storage } = hooked();
    const id = await hook(url);
    await storage.commit('global', (db) => db.updateTable('hooks').set({ active: 0 }).execute());
    const row = await findHook(storage.read, 'game', id);
    expect(row && inactiveWhyOf(row)).toBe('gone');
  });

  test('the audit has each change once, with its actor and without anything secret; what changes nothing is not in it', async () => {
    const { hook, storage } = hooked();
    const id = await hook('https://a.example.com/p4th-secret?key=s3cret');
    const before = await stateOf(id);
    expect((await resume(id)).kind).toBe('active-already');
    expect((await pause(id, 'film')).kind).toBe('absent');
    expect((await pause(id)).kind).toBe('paused');
    expect((await pause(id)).kind).toBe('inactive-already');
    expect((await resume(id, 'film')).kind).toBe('absent');
    expect((await resume(id)).kind).toBe('resumed');
    expect((await stateOf(id))?.updated).toBe(before?.updated);
    const acts = await auditOf(storage, id);
    expect(acts.map(({ action }) => action)).toEqual(['hook.registered', 'hook.paused', 'hook.resumed']);
    for (const act of acts) {
      expect(act).toMatchObject({
        actor: 'ada',
        token_id: 'tok_1',
        detail: { workspace: 'game', hook: id, origin: 'https://a.example.com' },
      });
      expect(JSON.stringify(act)).not.toMatch(/s3cret|p4th|whsec_/);
    }
  });
});
