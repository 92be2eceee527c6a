import { describe, expect, test } from 'vitest';
import { addTrustRule, type NewTrustRule } from '../../../src/service/trust/rules.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { anyJob } from './samples.ts';

const actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
const { id: _id, created_at: _at, ...onMain } = { ...anyJob, claims: { ...anyJob.claims, ref: 'refs/heads/main' } };

describe.each(databaseKinds)('trust rules on $name', (kind) => {
  const storage = sharedStorage(kind);
  const add = (rule: NewTrustRule) => storage.commit('global', (db) => addTrustRule(db, actor, rule));

  test('are not stored twice, even if their fields are in another order', async () => {
    const rule = { ...onMain, owner: 'twice', scopes: ['sync', 'hooks:write'], workspaces: ['a', 'b'] } as const;
    const { ref, ...ids } = rule.claims;
    const again = {
      ...rule,
      scopes: ['hooks:write', 'sync'],
      workspaces: ['b', 'a'],
      claims: { ref, ...ids },
    } as const;
    const [one, other] = await Promise.all([add(rule), add(again)]);
    expect([one.kind, other.kind]).toEqual(['added', 'exists']);
    expect(other).toEqual({ ...one, kind: 'exists' });
    for (const more of [{ workspaces: null }, { scopes: ['sync'] }, { claims: ids }] as const)
      expect(await add({ ...rule, ...more })).toMatchObject({ kind: 'added' });
  });
});
