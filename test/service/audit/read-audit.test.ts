import { beforeAll, describe, expect, test } from 'vitest';
import { type Actor, type AuditAction, readAudit, recordAudit } from '../../../src/service/audit/audit.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const ada: Actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
/** Another token of the same name. */
const otherAda: Actor = { name: 'ada', tokenId: 'tok_other', address: '2001:db8::7' };
const operator: Actor = { name: 'operator:root', tokenId: null, address: null };

const actors = [ada, otherAda, operator];
const actions: readonly AuditAction[] = ['token.created', 'lock.force-released', 'hook.removed'];

describe.each(databaseKinds)('the audit on $name', (kind) => {
  const storage = sharedStorage(kind);
  const recorded: Awaited<ReturnType<typeof readAudit>>['entries'] = [];

  beforeAll(async () => {
    for (let n = 0; n < 60; n += 1) {
      const actor = actors[n % actors.length] ?? ada;
      const action = actions[(n * 7) % actions.length] ?? 'token.created';
      await storage.commit('global', (db) => recordAudit(db, { actor, action, detail: { n, nested: [null, { n }] } }));
    }
    const { entries } = await readAudit(storage, { limit: 100 });
    recorded.push(...entries);
  });

  test('returns all recorded details, newest entry first', () => {
    expect(recorded.map(({ detail }) => detail)).toEqual(
      Array.from({ length: 60 }, (_, index) => ({ n: 59 - index, nested: [null, { n: 59 - index }] })),
    );
    expect(recorded.at(-2)).toEqual({
      sequence: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: 'ada',
      token_id: 'tok_other',
      address: '2001:db8::7',
      action: 'lock.force-released',
      detail: { n: 1, nested: [null, { n: 1 }] },
    });
  });

  test('returns the newest entries, and whether these are all', async () => {
    for (const limit of [1, 59, 60, 61]) {
      const entries = recorded.slice(0, limit);
      expect(await readAudit(storage, { limit })).toEqual({ entries, isComplete: limit >= 60 });
    }
  });
});
