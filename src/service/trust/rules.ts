import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp, now } from '../storage/timestamp.ts';
import { permissionsOf } from '../tokens/tokens.ts';

/** Matches trusted jobs, and sets the permissions of their exchanged tokens. The columns are explained in tables.ts. */
export type TrustRule = ReturnType<typeof ruleOf>;

export type NewTrustRule = Omit<TrustRule, 'id' | 'created_at'>;

/** The rule must have passed the checks of new-rule.ts. `exists`: an equal rule already exists. */
export async function addTrustRule(db: Database, actor: Actor, added: NewTrustRule) {
  const rules = await listTrustRules({ read: db });
  const same = rules.find((rule) => canonicalForm(rule) === canonicalForm(added));
  if (same !== undefined) return { kind: 'exists', rule: same } as const;
  const row = await db
    .insertInto('trust_rules')
    .values({
      ...added,
      id: `trust_${randomUUID()}`,
      claims: JSON.stringify(added.claims),
      scopes: JSON.stringify(added.scopes),
      workspaces: added.workspaces && JSON.stringify(added.workspaces),
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const rule = ruleOf(row);
  await recordAudit(db, { actor, action: 'trust.added', detail: auditDetail(rule) });
  return { kind: 'added', rule } as const;
}

export async function removeTrustRule(db: Database, actor: Actor, id: string): Promise<TrustRule | undefined> {
  const row = await db.deleteFrom('trust_rules').where('id', '=', id).returningAll().executeTakeFirst();
  if (row === undefined) return undefined;
  const rule = ruleOf(row);
  // Keeps the rows, so that no JWT can be exchanged twice.
  await db
    .updateTable('tokens')
    .set({ revoked_at: now })
    .where('trust_rule', '=', id)
    .where('revoked_at', 'is', null)
    .execute();
  await recordAudit(db, { actor, action: 'trust.removed', detail: auditDetail(rule) });
  return rule;
}

export async function listTrustRules({ read }: Pick<Storage, 'read'>): Promise<TrustRule[]> {
  return (await read.selectFrom('trust_rules').selectAll().orderBy('created_at').orderBy('id').execute()).map(ruleOf);
}

const ruleOf = (row: Selectable<Tables['trust_rules']>) => ({
  ...row,
  // Only addTrustRule writes this column.
  claims: JSON.parse(row.claims) as Readonly<Record<string, string>>,
  ...permissionsOf(row),
  created_at: asTimestamp(row.created_at),
});

/** Canonical form of a rule, independent of the order of lists and claims. */
const canonicalForm = ({ issuer, owner, claims, scopes, workspaces }: NewTrustRule): string =>
  JSON.stringify([
    issuer,
    owner,
    Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    scopes.toSorted(),
    workspaces?.toSorted() ?? null,
  ]);

const auditDetail = ({ id, created_at: _, ...rule }: TrustRule): Readonly<Record<string, unknown>> => ({
  rule: id,
  ...rule,
});
