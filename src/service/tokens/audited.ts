import { type Actor, recordAudit } from '../operation/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { createToken, type NewToken, type Revocation, revokeToken, type Token } from './tokens.ts';

/** For everybody who makes a token: what is not recorded cannot be asked about later. */
export async function createTokenBy(
  db: Database,
  now: Now,
  actor: Actor,
  newToken: NewToken,
): Promise<{ readonly token: Token; readonly secret: string }> {
  const created = await createToken(db, now, newToken);
  const { id, name, scopes, workspaces, expires_at } = created.token;
  await recordAudit(db, now, {
    actor,
    action: 'token.created',
    detail: { token: id, name, scopes, workspaces, expires_at },
  });
  return created;
}

/** Nothing is recorded of a token that had been revoked already. */
export async function revokeTokenBy(db: Database, now: Now, actor: Actor, id: string): Promise<Revocation> {
  const revocation = await revokeToken(db, now, id);
  if (revocation === 'revoked') {
    const { name } = await db.selectFrom('tokens').select('name').where('id', '=', id).executeTakeFirstOrThrow();
    await recordAudit(db, now, { actor, action: 'token.revoked', detail: { token: id, name } });
  }
  return revocation;
}
