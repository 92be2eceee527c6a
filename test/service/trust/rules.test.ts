import { describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { addTrustRule, listTrustRules, type NewTrustRule, removeTrustRule } from '../../../src/service/trust/rules.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { anyJob } from './samples.ts';

const actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
const { id: _id, created_at: _at, ...onMain } = { ...anyJob, claims: { ...anyJob.claims, ref: 'refs/heads/main' } };

describe.each(databaseKinds)('trust rules on $name', (kind) => {
  const storage = sharedStorage(kind);
  const add = (rule: NewTrustRule) => storage.commit('global', (db) => addTrustRule(db, storage.now, actor, rule));
  const remove = (id: string) => storage.commit('global', (db) => removeTrustRule(db, storage.now, actor, id));

  test('are stored and removed with all their fields, and both changes are audited', async () => {
    const added = await add(onMain);
    if (added.kind !== 'added') throw new Error(`It was ${added.kind}.`);
    const everywhere = { ...onMain, owner: 'anyone', workspaces: null };
    await add(everywhere);
    expect(added.rule).toMatchObject({ ...onMain, id: expect.stringMatching(/^trust_[0-9a-f-]{36}$/) });
    const listed = await listTrustRules(storage);
    expect(listed).toHaveLength(2);
    expect(listed).toEqual(expect.arrayContaining([added.rule, expect.objectContaining(everywhere)]));
    expect(await remove(added.rule.id)).toEqual(added.rule);
    expect(await remove(added.rule.id)).toBeUndefined();
    expect(await listTrustRules(storage)).toEqual([expect.objectContaining(everywhere)]);
    const { entries } = await readAudit(storage, { limit: 10 });
    expect(entries.map(({ action }) => action)).toEqual(['trust.removed', 'trust.added', 'trust.added']);
    expect(entries[0]).toMatchObject({ actor: 'ada', detail: { rule: added.rule.id, ...onMain } });
  });

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
