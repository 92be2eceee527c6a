import { sql } from 'kysely';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { createTokenAudited } from '../tokens/audited.ts';
import { newTokenId, randomSecret, secretHash } from '../tokens/secret.ts';
import { sessionMs, startSession } from './sessions.ts';

export const looksLikeLinkSecret = (text: string): boolean => /^wsl_[A-Za-z0-9_-]{43}$/.test(text);

/** A one-time link that signs the operator in as administrator, at each start without an administrator. */
export const offerSignInLink = ({ commit, now }: Storage): Promise<string | undefined> =>
  commit('global', async (db) => ((await isAdministered(db)) ? undefined : addLink(db, now)));

/** For the operator of the machine, who can read and change all stored data anyway. */
export const makeSignInLink = ({ commit, now }: Storage): Promise<string> => commit('global', (db) => addLink(db, now));

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

/** Somebody has signed in by a link, or the operator has made an administrator's token. */
async function isAdministered(db: Database): Promise<boolean> {
  const link = await db.selectFrom('sign_in_links').select('hash').where('used_at', 'is not', null).limit(1).execute();
  if (link.length > 0) return true;
  const tokens = await db.selectFrom('tokens').select('id').where('scopes', 'like', '%"admin"%').limit(1).execute();
  return tokens.length > 0;
}

/** One hour: the person who sets a service up is there when it is printed. */
const validMs = 60 * 60 * 1_000;

const prefix = 'wsl_';

async function addLink(db: Database, now: Now): Promise<string> {
  const secret = prefix + randomSecret();
  await db.deleteFrom('sign_in_links').where('used_at', 'is', null).where(sql<boolean>`expires_at <= ${now}`).execute();
  const expires_at = sql<number>`${now} + ${sql.lit(validMs)}`;
  await db
    .insertInto('sign_in_links')
    .values({ hash: secretHash(secret), created_at: now, expires_at })
    .execute();
  return secret;
}
