import { describe, expect, test } from 'vitest';
import { removeHook } from '../../../src/service/webhooks/hooks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { checking, receiver } from './delivering.ts';
import { attemptNext } from './delivery-workers.ts';
import { actor, hookedStorage } from './hooked-storage.ts';

describe.each(databaseKinds)('a hook on $name', (kind) => {
  const { storage, hook, acquire, setHooks, deliveries } = hookedStorage(kind);

  const remove = (id: string) =>
    storage.commit('global', (db) => removeHook(db, storage.now, { workspace: 'game', id, actor }));

  test.each([
    ['removed', remove, []],
    ['changed', () => setHooks({ updated_at: 1 }), [{ attempts: 0, lease_owner: null }]],
  ])('that is %s during the DNS lookup of a delivery does not send it', async (_, change, left) => {
    const target = await receiver();
    const id = await hook(target.url().replace('127.0.0.1', 'slow.example.com'));
    await acquire('a');
    const targets = checking(async () => {
      await change(id);
      return ['127.0.0.1'];
    });
    expect(await attemptNext(storage, { targets })).toBe(true);
    expect(target.connections.opened).toBe(0);
    expect(await deliveries()).toMatchObject(left);
  });
});
