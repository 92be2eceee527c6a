import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { unknownWorkspaces } from './new-token.ts';
import {
  activeTokensOf,
  createToken,
  findToken,
  type NewToken,
  type Revocation,
  revokeToken,
  type Token,
} from './tokens.ts';

export type OnceCreated =
  | {
      readonly kind: 'created';
      readonly token: Token;
      readonly secret: string;
      /** Other active tokens of the owner, which can release its locks. */
      readonly othersOfOwner: readonly Token[];
    }
  /** A token with this id exists: the request was repeated, and the secret is no longer known. */
  | { readonly kind: 'made-before'; readonly token: Token }
  | { readonly kind: 'unknown-workspaces'; readonly ids: readonly string[] };

/** Creates the token with this id at most once, even if the request is repeated. */
export async function createTokenOnce(
  db: Database,
  now: Now,
  actor: Actor,
  { id, ...newToken }: NewToken & { readonly id: string },
): Promise<OnceCreated> {
  const token = await findToken(db, now, id);
  if (token !== undefined) return { kind: 'made-before', token };
  const { unknown } = await unknownWorkspaces(db, newToken.workspaces ?? []);
  if (unknown.length > 0) return { kind: 'unknown-workspaces', ids: unknown };
  const othersOfOwner = await activeTokensOf(db, now, newToken.owner ?? newToken.name);
  return { kind: 'created', ...(await createTokenAudited(db, now, actor, newToken, id)), othersOfOwner };
}

/** Adds no audit entry if the token was already revoked. */
export async function revokeTokenAudited(db: Database, now: Now, actor: Actor, id: string): Promise<Revocation> {
  const revocation = await revokeToken(db, now, id);
  if (revocation === 'revoked') {
    const { name } = await db.selectFrom('tokens').select('name').where('id', '=', id).executeTakeFirstOrThrow();
    await recordAudit(db, now, { actor, action: 'token.revoked', detail: { token: id, name } });
  }
  return revocation;
}

/** Use this function for every new token, so that its creation is recorded. */
export async function createTokenAudited(
  db: Database,
  now: Now,
  actor: Actor,
  newToken: NewToken,
  tokenId?: string,
): Promise<{ readonly token: Token; readonly secret: string }> {
  const created = await createToken(db, now, newToken, tokenId);
  const { id, name, owner, scopes, workspaces, expires_at } = created.token;
  await recordAudit(db, now, {
    actor,
    action: 'token.created',
    detail: { token: id, name, owner, scopes, workspaces, expires_at },
  });
  return created;
}
