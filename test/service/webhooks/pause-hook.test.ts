import { describe, expect, test } from 'vitest';
import { removeOldDeliveries } from '../../../src/service/webhooks/delivery-queue.ts';
import { requireHook } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { nothing } from '../../support/other-servers/responses.ts';
import { shippedRetention } from '../../support/shipped-settings.ts';
import { receiver } from './delivering.ts';
import { attemptNext } from './delivery-workers.ts';
import { auditOf } from './hooked-service.ts';
import { claimNext, hookedStorage } from './hooked-storage.ts';

const [url, otherUrl] = ['https://a.example.com/', 'https://b.example.com/'];
const day = 24 * 60 * 60 * 1_000;
const delivered = { kind: 'delivered' } as const;
const gone = { kind: 'gone', reason: 'no' } as const;

describe.each(databaseKinds)('pausing a hook on $name', (kind) => {
  const hooked = hookedStorage(kind);
  const { storage, hook, acquire, release, pause, resume, claim, settle, deliveries, statuses } = hooked;
  const { setDeliveries, setHooks, makeDue } = hooked;

  const stateOf = async (id: string) => {
    const { active, inactive_why: reason, updated_at: updated } = await requireHook(storage.read, 'game', id);
    return { active, reason, updated };
  };
  const told = async (id: string) =>
    (await deliveries()).filter(({ hook_id }) => hook_id === id).map(({ status, event }) => [status, event.type]);

  test('skips new events, holds waiting ones, and does not affect other hooks', async () => {
    const [id, other] = [await hook(url), await hook(otherUrl)];
    await acquire('a');
    await release('a');
    expect(await pause(id)).toBe('paused');
    await acquire('b');
    expect(await told(id)).toEqual([
      ['pending', 'lock.acquired'],
      ['pending', 'lock.released'],
    ]);
    for (let number = 0; number < 3; number += 1) {
      const claimed = await claim();
      expect(claimed.hook.id).toBe(other);
      await settle(claimed, delivered);
    }
    expect(await claimNext(storage)).toBeUndefined();

    expect(await resume(id)).toBe('resumed');
    const held = await claim();
    expect([held.hook.id, held.event.type]).toEqual([id, 'lock.acquired']);
    await settle(held, delivered);
    expect((await claim()).event.type).toBe('lock.released');
    await acquire('c');
    expect((await told(id)).at(-1)).toEqual(['pending', 'lock.acquired']);
  });

  test('is overridden by 410 from an earlier attempt, even after resuming', async () => {
    for (const resumed of [false, true]) {
      const id = await hook(url);
      await acquire(`a/${resumed}`);
      await acquire(`b/${resumed}`);
      const claimed = await claim();
      await pause(id);
      if (resumed) await resume(id);
      expect(await settle(claimed, gone)).toBe(true);
      expect(await stateOf(id)).toMatchObject({ active: 0, reason: 'gone' });
      expect((await statuses()).slice(-2)).toEqual(['failed', 'dropped']);
    }
  });

  test('keeps held deliveries, with all their time after resuming or a new registration', async () => {
    const to = await receiver();
    to.behave(nothing(500));
    const outcome = async () => {
      expect(await attemptNext(storage)).toBe(true);
      return (await statuses()).at(-1);
    };
    for (const wake of [resume, () => hook(to.url())]) {
      const id = await hook(to.url());
      await acquire(`held/${wake.length}`);
      await pause(id);
      await setDeliveries({ created_at: Date.now() - 30 * day });
      await removeOldDeliveries(storage, shippedRetention);
      await wake(id);
      expect(await outcome()).toBe('pending');
      // Resuming an active hook gives no more time: the queue of a dead receiver must end.
      await setHooks({ resumed_at: Date.now() - 29 * day });
      await wake(id);
      await makeDue();
      expect(await outcome()).toBe('failed');
      await storage.commit('global', (db) => db.deleteFrom('deliveries').execute());
    }
  });

  test('the audit records each change once, with its actor and without secrets, and no refused changes', async () => {
    const id = await hook('https://a.example.com/p4th-secret?key=s3cret');
    const before = await stateOf(id);
    expect(await resume(id)).toBe('active-already');
    await expect(pause(id, 'film')).rejects.toThrow('no such webhook');
    expect(await pause(id)).toBe('paused');
    expect(await pause(id)).toBe('paused-already');
    await expect(resume(id, 'film')).rejects.toThrow('no such webhook');
    expect(await resume(id)).toBe('resumed');
    expect((await stateOf(id)).updated).toBe(before.updated);
    const acts = await auditOf(storage, id);
    expect(acts.map(({ action }) => action)).toEqual(['hook.registered', 'hook.paused', 'hook.resumed']);
    const detail = { workspace: 'game', hook: id, origin: 'https://a.example.com' };
    for (const act of acts) {
      expect(act).toMatchObject({ actor: 'ada', token_id: 'tok_1', detail });
      expect(JSON.stringify(act)).not.toMatch(/s3cret|p4th|whsec_/);
    }
  });
});
