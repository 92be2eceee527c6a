import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Actor } from '../../../src/service/audit/audit.ts';
import { readAudit } from '../../../src/service/audit/read-audit.ts';
import { startSession } from '../../../src/service/sessions/sessions.ts';
import { dependentsOf } from '../../../src/service/tokens/dependents.ts';
import { newTokenId } from '../../../src/service/tokens/secret.ts';
import { createToken, createTokenOnce, listTokens } from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks } from '../../support/stored-rows.ts';

const actor: Actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
const ci = { name: 'ci', scopes: ['locks:write'], workspaces: null, lifetime: null } as const;

describe.each(databaseKinds)('a token on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game'] });

  test('is created once, even if requested several times, also concurrently', async () => {
    const id = newTokenId();
    const make = () => storage.commit('global', (db) => createTokenOnce(db, storage.now, actor, { id, ...ci }));
    const made = [...(await Promise.all([make(), make(), make()])), await make()];
    expect(made.map(({ kind }) => kind).toSorted()).toEqual(['created', 'made-before', 'made-before', 'made-before']);
    expect(made.filter((one) => 'secret' in one)).toHaveLength(1);
    expect(await listTokens(storage)).toMatchObject([{ id, name: 'ci' }]);
    expect((await readAudit(storage, { limit: 10 })).entries).toMatchObject([{ action: 'token.created' }]);
  });

  test('reports its active locks and its sessions as dependents', async () => {
    const { token } = await storage.commit('global', (db) => createToken(db, storage.now, ci));
    const { token: other } = await storage.commit('global', (db) => createToken(db, storage.now, ci));
    const lock = ({ id }: typeof token, path: string, seconds: number) => {
      const expires_at = sql<number>`${storage.now} + ${seconds * 1_000}`;
      return storeLocks(storage, { workspace_id: 'game', path, token_id: id, expires_at });
    };
    for (let index = 0; index < 6; index += 1) await lock(token, `Content/${index}.uasset`, 100 * (index + 1));
    await lock(token, 'Content/expired.uasset', -1);
    await lock(other, 'Content/other.uasset', 1_000);
    await storage.commit('global', (db) =>
      startSession(db, storage.now, { name: token.name, tokenId: token.id, address: null }, 'token'),
    );
    expect(await dependentsOf(storage, token.id)).toEqual({
      locks: 6,
      someLocks: [5, 4, 3, 2, 1].map((index) => ({ workspace: 'game', path: `Content/${index}.uasset` })),
      sessions: 1,
    });
    expect(await dependentsOf(storage, 'tok_none')).toEqual({ locks: 0, someLocks: [], sessions: 0 });
  });
});
