import { sql } from 'kysely';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { randomSecret, secretHash } from '../tokens/secret.ts';
import { checkToken } from '../tokens/tokens.ts';

export const looksLikeSessionSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** About a working day, so that people sign in once a day. */
export const sessionMs = 12 * 60 * 60 * 1_000;

/** Returns the secret of the new session, for the cookie. Only its hash is stored. */
export async function startSession(
  db: Database,
  now: Now,
  actor: Actor & { readonly tokenId: string },
  by: 'token' | 'link',
): Promise<string> {
  const secret = randomSecret();
  await endOldestSessions(db, actor.tokenId);
  await db
    .insertInto('sessions')
    .values({
      hash: secretHash(secret),
      token_id: actor.tokenId,
      created_at: now,
      expires_at: sql<number>`${now} + ${sql.lit(sessionMs)}`,
    })
    .execute();
  await recordAudit(db, now, { actor, action: 'session.signed-in', detail: { by } });
  return secret;
}

/** Checked for every request, so that a session ends as soon as its token expires or is revoked. */
export async function authenticateSession({ read, now }: Storage, secret: string) {
  const row = await read
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.id', 'sessions.token_id')
    .selectAll('tokens')
    .select(now.as('now'))
    .where('sessions.hash', '=', secretHash(secret))
    .where(sql<boolean>`sessions.expires_at > ${now}`)
    .executeTakeFirst();
  if (row === undefined) return { kind: 'refused', reason: 'The session has ended.' } as const;
  const authentication = checkToken(row);
  return authentication.kind === 'known' ? { ...authentication, now: row.now } : authentication;
}

export async function endSession(db: Database, now: Now, actor: Actor, secret: string): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('hash', '=', secretHash(secret)).executeTakeFirst();
  if (numDeletedRows === 0n) return;
  await recordAudit(db, now, { actor, action: 'session.signed-out', detail: {} });
}

export async function removeEndedSessions({ now, commit }: Storage): Promise<void> {
  await commit('global', async (db) => {
    await db.deleteFrom('sessions').where(sql<boolean>`expires_at <= (select ${now})`).execute();
  });
}

/** Enough for the browsers and devices of a person. Signing in more often ends the oldest sessions of the token. */
const maxSessionsPerToken = 10;

/** Keeps the newest sessions, with room for one more. */
async function endOldestSessions(db: Database, tokenId: string): Promise<void> {
  const youngest = db
    .selectFrom('sessions')
    .select('hash')
    .where('token_id', '=', tokenId)
    .orderBy('created_at', 'desc')
    .limit(maxSessionsPerToken - 1);
  await db.deleteFrom('sessions').where('token_id', '=', tokenId).where('hash', 'not in', youngest).execute();
}
