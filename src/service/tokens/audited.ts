import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { unknownWorkspaces } from './new-token.ts';
import { activeTokensOf, createToken, findToken, type NewToken, revokeToken } from './tokens.ts';

/** Creates the token with this id at most once, even if the request is repeated. */
export async function createTokenOnce(
  db: Database,
  now: Now,
  actor: Actor,
  { id, ...newToken }: NewToken & { readonly id: string },
) {
  const token = await findToken(db, now, id);
  // The request was repeated, and the secret is no longer known.
  if (token !== undefined) return { kind: 'made-before', token } as const;
  const { unknown } = await unknownWorkspaces(db, newToken.workspaces ?? []);
  if (unknown.length > 0) return { kind: 'unknown-workspaces', ids: unknown } as const;
  // These can release the locks of the owner, too.
  const othersOfOwner = await activeTokensOf(db, now, newToken.owner ?? newToken.name);
  return { kind: 'created', ...(await createTokenAudited(db, now, actor, newToken, id)), othersOfOwner } as const;
}

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
