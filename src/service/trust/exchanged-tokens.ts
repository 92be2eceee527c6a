import { sql } from 'kysely';
import type { Scope } from '../../interface/scopes.ts';
import { removeOld } from '../storage/remove-old.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { newTokenId, newTokenSecret, secretHash } from '../tokens/secret.ts';
import type { ProvenRun } from './proven-run.ts';
import type { Identity } from './verify-identity.ts';

/** Long enough for a step. Longer jobs exchange another identity token. */
export const exchangedTokenSeconds = 15 * 60;

interface NewExchangedToken {
  readonly run: Pick<ProvenRun, 'id' | 'name' | 'origin'>;
  /** The matching rule. Removing it revokes the token. */
  readonly rule: { readonly id: string; readonly owner: string; readonly workspaces: readonly string[] | null };
  readonly scopes: readonly Scope[];
  readonly identity: Pick<Identity, 'id' | 'endsAt'>;
}

/** Returns the secret; undefined if the JWT was exchanged before. */
export async function createExchangedToken(
  db: Database,
  now: Now,
  { run, rule, scopes, identity }: NewExchangedToken,
): Promise<string | undefined> {
  const secret = newTokenSecret();
  const expires_at = sql<number>`${now} + ${sql.lit(exchangedTokenSeconds * 1_000)}`;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('tokens')
    .values({
      id: newTokenId(),
      name: run.name,
      owner: rule.owner,
      hash: secretHash(secret),
      scopes: JSON.stringify(scopes),
      workspaces: rule.workspaces && JSON.stringify(rule.workspaces),
      created_at: now,
      expires_at,
      run_id: run.id,
      run_origin: run.origin,
      trust_rules: JSON.stringify([rule.id]),
      identity: identity.id,
      forget_at: sql<number>`case when ${expires_at} > ${identity.endsAt} then ${expires_at} else ${identity.endsAt} end`,
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
