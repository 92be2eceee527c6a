import { sql } from 'kysely';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import { randomSecret, secretHash } from '../tokens/secret.ts';
import { checkToken, createToken } from '../tokens/tokens.ts';

/** About a working day: people sign in once a day. */
export const sessionMs = 12 * 60 * 60 * 1_000;

/** Returns the secret of the new session, for the cookie. Only its hash is stored. */
export async function startSession(
  db: Database,
  actor: Actor & { readonly tokenId: string },
  by: 'token' | 'link',
): Promise<string> {
  const secret = randomSecret();
  const expires_at = sql<number>`${now} + ${sql.lit(sessionMs)}`;
  const session = { hash: secretHash(secret), token_id: actor.tokenId, expires_at };
  await db.insertInto('sessions').values(session).execute();
  await recordAudit(db, { actor, action: 'session.signed-in', detail: { by } });
  return secret;
}

/** Checked on every request, so that a session ends as soon as its token expires or is revoked. */
export async function authenticateSession({ read }: Storage, secret: string | undefined) {
  if (secret === undefined) return undefined;
  const row = await read
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.id', 'sessions.token_id')
    .selectAll('tokens')
    .select(now.as('now'))
    .where('sessions.hash', '=', secretHash(secret))
    .where(sql<boolean>`sessions.expires_at > ${now}`)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const authentication = checkToken(row, row.now);
  return authentication.ok ? { secret, now: row.now, bearer: authentication.value } : undefined;
}

export async function endSession(db: Database, actor: Actor, secret: string): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('hash', '=', secretHash(secret)).executeTakeFirst();
  if (numDeletedRows === 0n) return;
  await recordAudit(db, { actor, action: 'session.signed-out', detail: {} });
}

export const looksLikeLinkSecret = (text: string): boolean => /^wsl_[A-Za-z0-9_-]{43}$/.test(text);

const prefix = 'wsl_';

/** One hour is enough: the person who sets up the service is present when the link is printed. */
const validMs = 60 * 60 * 1_000;

/**
 * A one-time link that signs the operator in as administrator. Needs no authentication, because an operator with access
 * to the machine can already read and change all stored data.
 */
export const makeSignInLink = ({ commit }: Storage): Promise<string> =>
  commit('global', async (db) => {
    const secret = prefix + randomSecret();
    const expires_at = sql<number>`${now} + ${sql.lit(validMs)}`;
    await db.deleteFrom('sign_in_links').where(sql<boolean>`expires_at <= ${now}`).execute();
    await db
      .insertInto('sign_in_links')
      .values({ hash: secretHash(secret), expires_at })
      .execute();
    return secret;
  });

/**
 * Returns the secret of a session; undefined if the link was used, has expired or never existed. The session gets a
 * token of its own, whose secret is never shown. It is listed, and can be revoked, like any other.
 */
export async function useSignInLink(
  { read, commit }: Storage,
  secret: string,
  address: string | null,
): Promise<string | undefined> {
  const isUsable = sql<boolean>`hash = ${secretHash(secret)} and expires_at > (select ${now})`;
  // Only a usable link starts a change, because anyone can send requests, and changes delay others.
  const found = read.selectFrom('sign_in_links').select('hash').where(isUsable);
  if (!looksLikeLinkSecret(secret) || (await found.executeTakeFirst()) === undefined) return undefined;
  return commit('tokens', async (db) => {
    const { numDeletedRows } = await db.deleteFrom('sign_in_links').where(isUsable).executeTakeFirst();
    if (numDeletedRows === 0n) return undefined;
    const administrator = { name: 'administrator', scopes: ['admin'], workspaces: null } as const;
    const actor = { name: administrator.name, tokenId: null, address };
    const lifetime = { seconds: sessionMs / 1_000 };
    const { token } = await createToken(db, actor, { ...administrator, lifetime });
    return startSession(db, { ...actor, tokenId: token.id }, 'link');
  });
}
