import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Timestamp } from '../../interface/resources.ts';
import { isScope, type Scope } from '../../interface/scopes.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { revokeTokensOfRule } from '../tokens/exchanged.ts';

/** Matches trusted jobs, and sets the permissions of their exchanged tokens. */
export interface TrustRule {
  readonly id: string;
  /** Must equal the claim `iss` exactly. */
  readonly issuer: string;
  /** Owner of the locks of its tokens. Case-sensitive. */
  readonly owner: string;
  /** Required claims, with their exact values. */
  readonly claims: Readonly<Record<string, string>>;
  /** The file of the workflow in the repository of the job, such as `.github/workflows/release.yml`; null for any. */
  readonly workflow: string | null;
  /** For people to read, never matched. */
  readonly repository: string | null;
  readonly scopes: readonly Scope[];
  /** Null for all. */
  readonly workspaces: readonly string[] | null;
  readonly created_at: Timestamp;
}

export async function findTrustRule(db: Database, id: string): Promise<TrustRule | undefined> {
  const row = await db.selectFrom('trust_rules').selectAll().where('id', '=', id).executeTakeFirst();
  return row && ruleOf(row);
}

export type NewTrustRule = Omit<TrustRule, 'id' | 'created_at'>;

/** All rules are checked for every exchange. */
export const maxTrustRules = 1_000;

export type AddedTrustRule =
  | { readonly kind: 'added'; readonly rule: TrustRule }
  /** An equal rule exists. */
  | { readonly kind: 'there-already'; readonly rule: TrustRule }
  | { readonly kind: 'too-many' };

/** The rule must have passed the checks of new-rule.ts. */
export async function addTrustRule(
  db: Database,
  now: Now,
  actor: Actor,
  { claims, scopes, workspaces, ...rest }: NewTrustRule,
): Promise<AddedTrustRule> {
  const rules = await listTrustRules({ read: db });
  const said = sameness({ claims, scopes, workspaces, ...rest });
  const same = rules.find((rule) => sameness(rule) === said);
  if (same !== undefined) return { kind: 'there-already', rule: same };
  if (rules.length >= maxTrustRules) return { kind: 'too-many' };
  const row = await db
    .insertInto('trust_rules')
    .values({
      ...rest,
      id: `trust_${randomUUID()}`,
      claims: JSON.stringify(claims),
      scopes: JSON.stringify(scopes),
      workspaces: workspaces === null ? null : JSON.stringify(workspaces),
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const rule = ruleOf(row);
  await recordAudit(db, now, { actor, action: 'trust.added', detail: recorded(rule) });
  return { kind: 'added', rule };
}

/** Returns the removed rule; undefined if it does not exist. */
export async function removeTrustRule(
  db: Database,
  now: Now,
  actor: Actor,
  id: string,
): Promise<TrustRule | undefined> {
  const row = await db.deleteFrom('trust_rules').where('id', '=', id).returningAll().executeTakeFirst();
  if (row === undefined) return undefined;
  const rule = ruleOf(row);
  await revokeTokensOfRule(db, now, id);
  await recordAudit(db, now, { actor, action: 'trust.removed', detail: recorded(rule) });
  return rule;
}

export async function listTrustRules({ read }: Pick<Storage, 'read'>): Promise<TrustRule[]> {
  return (await read.selectFrom('trust_rules').selectAll().orderBy('created_at').orderBy('id').execute()).map(ruleOf);
}

type Row = Selectable<Tables['trust_rules']>;

// Only addTrustRule writes these columns.
const ruleOf = (row: Row): TrustRule => ({
  ...row,
  claims: JSON.parse(row.claims) as Record<string, string>,
  scopes: (JSON.parse(row.scopes) as string[]).filter(isScope),
  workspaces: JSON.parse(row.workspaces ?? 'null') as string[] | null,
  created_at: asTimestamp(row.created_at),
});

/** Canonical form of a rule: independent of the order of lists and claims. */
const sameness = ({ issuer, owner, claims, workflow, scopes, workspaces }: NewTrustRule): string =>
  JSON.stringify([
    issuer,
    owner,
    Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    workflow,
    scopes.toSorted(),
    workspaces?.toSorted() ?? null,
  ]);

const recorded = ({ id, created_at: _, ...rule }: TrustRule): Readonly<Record<string, unknown>> => ({
  rule: id,
  ...rule,
});
