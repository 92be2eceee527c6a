import { sql } from 'kysely';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { createTokenAudited } from '../tokens/audited.ts';
import { newTokenId, randomSecret, secretHash } from '../tokens/secret.ts';
import { sessionMs, startSession } from './sessions.ts';

export const looksLikeLinkSecret = (text: string): boolean => /^wsl_[A-Za-z0-9_-]{43}$/.test(text);

/** A one-time link that signs the operator in as administrator, at each start without an administrator. */
export const offerSignInLink = ({ commit, now }: Storage): Promise<string | undefined> =>
  commit('global', async (db) => ((await isAdministered(db)) ? undefined : addLink(db, now)));

/** Needs no authentication: an operator with access to the machine can read and change all stored data anyway. */
export const makeSignInLink = ({ commit, now }: Storage): Promise<string> => commit('global', (db) => addLink(db, now));

/**
 * Returns the secret of a session; undefined if the link was used, has expired or never existed. The session gets its
 * own token, which is listed and can be revoked like any other. Its secret is never shown.
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
  await createTokenAudited(db, now, actor, { ...administrator, lifetime }, tokenId);
  return startSession(db, now, actor, 'link');
}

/** Whether someone has signed in with a link, or an administrator's token exists. */
async function isAdministered(db: Database): Promise<boolean> {
  const usedLinks = db.selectFrom('sign_in_links').select('hash as id').where('used_at', 'is not', null);
  const administrators = db.selectFrom('tokens').select('id').where('scopes', 'like', '%"admin"%');
  return (await usedLinks.unionAll(administrators).limit(1).execute()).length > 0;
}

/** One hour, because the person who sets up the service is present when the link is printed. */
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
