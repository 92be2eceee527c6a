import { sql } from 'kysely';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { createTokenAudited } from '../tokens/audited.ts';
import { newSecret, newTokenId, secretHash } from '../tokens/secret.ts';
import { sessionMs, startSession } from './sessions.ts';

/** An hour from the moment it is printed: whoever sets a service up is there. */
const validMs = 60 * 60 * 1_000;

const prefix = 'wsl_';

export const looksLikeLinkSecret = (text: string): boolean => /^wsl_[A-Za-z0-9_-]{43}$/.test(text);

async function isAdministered(db: Database): Promise<boolean> {
  const link = await db.selectFrom('sign_in_links').select('hash').limit(1).executeTakeFirst();
  if (link !== undefined) return true;
  const tokens = await db.selectFrom('tokens').select('id').where('scopes', 'like', '%"admin"%').limit(1).execute();
  return tokens.length > 0;
}

/**
 * What lets the operator in as administrator, once. Undefined on a service that has offered it before, or whose
 * operator has made an administrator's token.
 */
export function offerSignInLink({ commit, now }: Storage): Promise<string | undefined> {
  const secret = prefix + newSecret();
  return commit('global', async (db) => {
    if (await isAdministered(db)) return undefined;
    const expires_at = sql<number>`${now} + ${sql.lit(validMs)}`;
    await db
      .insertInto('sign_in_links')
      .values({ hash: secretHash(secret), created_at: now, expires_at })
      .execute();
    return secret;
  });
}

/**
 * Gives the secret of a session, or nothing when the link was used, is too old, or never was. The session has a token
 * of its own, which is listed and can be revoked like any other; nobody is ever told its secret.
 */
export async function useSignInLink(
  db: Database,
  now: Now,
  secret: string,
  address: string | null,
): Promise<string | undefined> {
  const { numUpdatedRows } = await db
    .updateTable('sign_in_links')
    .set({ used_at: now })
    .where('hash', '=', secretHash(secret))
    .where('used_at', 'is', null)
    .where(sql<boolean>`expires_at > ${now}`)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return undefined;
  const administrator = { name: 'administrator', scopes: ['admin'], workspaces: null } as const;
  const tokenId = newTokenId();
  const actor = { name: administrator.name, tokenId, address };
  const lifetime = { seconds: sessionMs / 1_000 };
  const { token } = await createTokenAudited(db, now, actor, { ...administrator, lifetime }, tokenId);
  return startSession(db, now, { bearer: token, address, by: 'link' });
}
