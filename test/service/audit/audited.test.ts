import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Actor } from '../../../src/service/audit/audit.ts';
import { createToken, listTokens, revokeToken } from '../../../src/service/tokens/tokens.ts';
import { removeWorkspaceInBatches } from '../../../src/service/workspaces/remove-workspace.ts';
import { addWorkspace, listWorkspaces } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const actor: Actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
const ci = { name: 'ci', scopes: ['sync'], workspaces: ['game'], lifetime: { seconds: 3_600 } } as const;
const game = { id: 'game', remote: 'https://ada:s3cret-word@git.example.com/game.git' };

describe.each(databaseKinds)('the audit on $name', (kind) => {
  const storage = sharedStorage(kind);

  test('undoes a change that it cannot record', async () => {
    const { token } = await storage.commit('global', (db) => createToken(db, actor, ci));
    await storage.commit('global', (db) => addWorkspace(db, actor, game));
    const state = async () => [await listTokens(storage), await listWorkspaces(storage.read)];
    const before = await state();
    expect(before[1]).toMatchObject([{ id: 'game' }]);
    await storage.commit('global', (db) => sql`drop table audit`.execute(db));
    const changes = await Promise.allSettled([
      storage.commit('global', (db) => createToken(db, actor, ci)),
      storage.commit('global', (db) => revokeToken(db, actor, token.id)),
      storage.commit('global', (db) => addWorkspace(db, actor, { ...game, id: 'other' })),
      removeWorkspaceInBatches(storage, actor, 'game'),
    ]);
    const reason = { message: expect.stringContaining('audit') };
    expect(changes).toMatchObject(changes.map(() => ({ status: 'rejected', reason })));
    expect(await state()).toEqual(before);
  });
});
