import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAudit, removeOldAudit } from '../../../src/service/audit/audit.ts';
import { databaseKinds, sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const dayMs = 86_400_000;
const keepAudit = { seconds: 30 * 86_400 };

describe.each(databaseKinds)('the retention of the audit on $name', (kind) => {
  const storage = sharedStorage(kind);

  const addEntries = (days: number, count = 1) =>
    storage.commit('global', async (db) => {
      const at = sql<number>`${storage.now} - ${sql.lit(days * dayMs)}`;
      const entry = { at, actor: 'ada', action: `of day ${days}`, detail: '{}' };
      for (let added = 0; added < count; added += 1) await db.insertInto('audit').values(entry).execute();
    });
  const entries = async () => (await readAudit(storage, { limit: 100 })).entries.toReversed();
  const actions = async () => (await entries()).map(({ action }) => action);
  const remove = () => storage.commit('global', (db) => db.deleteFrom('audit').execute());

  test('removes the entries of older days once, and records the removal', async () => {
    await addEntries(32, 3);
    await addEntries(31);
    await addEntries(29);
    await removeOldAudit(storage, undefined);
    expect(await actions()).toHaveLength(5);
    await expect(remove()).rejects.toThrow('The audit only grows.');

    await removeOldAudit(storage, keepAudit);
    expect(await actions()).toEqual(['of day 29', 'audit.removed']);
    const [, removal] = await entries();
    expect(removal?.actor).toBe('maintenance');
    const before = Date.parse(String(removal?.detail['before']));
    expect(before % dayMs).toBe(0);
    const age = Date.parse(removal?.at ?? '') - before;
    expect(age).toBeGreaterThanOrEqual(30 * dayMs);
    expect(age).toBeLessThan(31 * dayMs);

    await removeOldAudit(storage, keepAudit);
    expect(await actions()).toEqual(['of day 29', 'audit.removed']);
  });

  test('does not let anyone remove or change a newer entry', async () => {
    await expect(remove()).rejects.toThrow('The audit only grows.');
    const change = storage.commit('global', (db) => db.updateTable('audit').set({ actor: 'bo' }).execute());
    await expect(change).rejects.toThrow('The audit only grows.');
    expect(await actions()).toEqual(['of day 29', 'audit.removed']);
  });
});

test('the retention removes entries that a killed instance had only announced', async () => {
  const { storage, remove } = await sqlite.open();
  onTestFinished(remove);
  await storage.commit('global', async (db) => {
    await db
      .insertInto('audit')
      .values(['old', 'older'].map((action) => ({ at: dayMs, actor: 'ada', action, detail: '{}' })))
      .execute();
    const { time } = await db.selectNoFrom(storage.now.as('time')).executeTakeFirstOrThrow();
    const value = Math.floor(time / dayMs - 30) * dayMs;
    await db.insertInto('quotas').values({ name: 'auditRemovableBefore', value }).execute();
  });
  await removeOldAudit(storage, keepAudit);
  expect((await readAudit(storage, { limit: 100 })).entries).toEqual([]);
});
