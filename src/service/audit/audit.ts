import type { Database, Storage } from '../storage/storage.ts';
import { asTimestamp, now } from '../storage/timestamp.ts';

/** The audited actions: everything except what a token does with its own locks and syncs. */
export const auditActions = [
  'session.signed-in',
  'session.signed-out',
  'token.created',
  'token.rotated',
  'token.revoked',
  'token.exchanged',
  'lock.force-released',
  'hook.registered',
  'hook.replaced',
  'hook.removed',
  'workspace.added',
  'workspace.updated',
  'workspace.removed',
  'push-secret.created',
  'pool.added',
  'pool.updated',
  'pool.removed',
  'trust.added',
  'trust.removed',
  'backup.restored',
  'fences.raised',
] as const;

export type AuditAction = (typeof auditActions)[number];

export interface Actor {
  readonly name: string;
  /** Null for the operator at the command line. */
  readonly tokenId: string | null;
  readonly address: string | null;
}

interface AuditEntry {
  readonly actor: Actor;
  readonly action: AuditAction;
  /** Must not contain secrets: anyone who may read the audit log can read all of it. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Must run in the transaction of the action, so that neither exists without the other. */
export async function recordAudit(db: Database, { actor, action, detail }: AuditEntry): Promise<void> {
  const { name, tokenId: token_id, address } = actor;
  const entry = { at: now, actor: name, token_id, address, action, detail: JSON.stringify(detail) };
  await db.insertInto('audit').values(entry).execute();
}

/** The audit entries, newest first. */
export async function readAudit({ read }: Pick<Storage, 'read'>, { limit }: { readonly limit: number }) {
  const newest = read
    .selectFrom('audit')
    .selectAll()
    .orderBy('sequence', 'desc')
    .limit(limit + 1);
  const rows = await newest.execute();
  const entries = rows.slice(0, limit).map((row) => ({
    ...row,
    at: asTimestamp(row.at),
    // Only recordAudit() writes the column.
    detail: JSON.parse(row.detail) as AuditEntry['detail'],
  }));
  return { entries, isComplete: rows.length <= limit };
}
