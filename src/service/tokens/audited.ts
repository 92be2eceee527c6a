import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { createToken, type NewToken, revokeToken } from './tokens.ts';

/** Adds no audit entry if the token was already revoked. */
export async function revokeTokenAudited(db: Database, now: Now, actor: Actor, id: string) {
  const revocation = await revokeToken(db, now, id);
  if (revocation === 'revoked') {
    const { name } = await db.selectFrom('tokens').select('name').where('id', '=', id).executeTakeFirstOrThrow();
    await recordAudit(db, now, { actor, action: 'token.revoked', detail: { token: id, name } });
  }
  return revocation;
}

/** Use this function for every new token, so that its creation is recorded. */
export async function createTokenAudited(db: Database, now: Now, actor: Actor, newToken: NewToken, tokenId?: string) {
  const created = await createToken(db, now, newToken, tokenId);
  const { id, name, owner, scopes, workspaces, expires_at } = created.token;
  await recordAudit(db, now, {
    actor,
    action: 'token.created',
    detail: { token: id, name, owner, scopes, workspaces, expires_at },
  });
  return created;
}
