import { sql } from 'kysely';
import type { Scope } from '../../interface/scopes.ts';
import { removeOld } from '../storage/remove-old.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { newTokenId, newTokenSecret, secretHash } from './secret.ts';

/** Long enough for a step. Longer jobs exchange another identity token. */
export const exchangedTokenSeconds = 15 * 60;

export interface NewExchangedToken {
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly Scope[];
  readonly workspaces: readonly string[] | null;
  readonly runId: string;
  readonly runOrigin: string | null;
  /** Id of the matching rule. Removing the rule revokes the token. */
  readonly trustRule: string;
  /** A hash that identifies the JWT. */
  readonly identity: string;
  /** Time after which the JWT is no longer accepted, in milliseconds since 1970. */
  readonly identityEndsAt: number;
}

/** Returns the secret; undefined if the JWT was exchanged before. */
export async function createExchangedToken(
  db: Database,
  now: Now,
  { identityEndsAt, ...token }: NewExchangedToken,
): Promise<string | undefined> {
  const secret = newTokenSecret();
  const expires_at = sql<number>`${now} + ${sql.lit(exchangedTokenSeconds * 1_000)}`;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('tokens')
    .values({
      id: newTokenId(),
      name: token.name,
      owner: token.owner,
      hash: secretHash(secret),
      scopes: JSON.stringify(token.scopes),
      workspaces: token.workspaces === null ? null : JSON.stringify(token.workspaces),
      created_at: now,
      expires_at,
      run_id: token.runId,
      run_origin: token.runOrigin,
      trust_rules: JSON.stringify([token.trustRule]),
      identity: token.identity,
      forget_at: sql<number>`case when ${expires_at} > ${identityEndsAt} then ${expires_at} else ${identityEndsAt} end`,
    })
    .onConflict((conflict) => conflict.column('identity').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 0n ? undefined : secret;
}

/** Must be called in the transaction that removes the rule. Keeps the rows, so that a JWT cannot be exchanged twice. */
export async function revokeTokensOfRule(db: Database, now: Now, ruleId: string): Promise<void> {
  await db
    .updateTable('tokens')
    .set({ revoked_at: now })
    .where('trust_rules', 'like', `%"${ruleId}"%`)
    .where('revoked_at', 'is', null)
    .execute();
}

export const removeExchangedTokens = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'tokens', time: 'forget_at', keptForMs: 0 });
