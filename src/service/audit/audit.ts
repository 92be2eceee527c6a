import { recordEvents } from '../outbox/outbox.ts';
import type { Database, Now } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';

/** Audited actions: everything except a token's own locks and syncs. */
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
  'audit.removed',
] as const;

export type AuditAction = (typeof auditActions)[number];

export interface Actor {
  readonly name: string;
  /** Null for the operator at the command line. */
  readonly tokenId: string | null;
  readonly address: string | null;
}

export interface AuditEntry {
  readonly actor: Actor;
  readonly action: AuditAction;
  /** Must not contain secrets: everyone who may read the audit can read all of it. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Must run in the transaction of the action, so that neither exists without the other. Webhooks of a workspace receive
 * its entries. Entries about the service, such as those about tokens, go to no webhook.
 */
export async function recordAudit(db: Database, now: Now, { actor, action, detail }: AuditEntry): Promise<void> {
  const { name, tokenId: token_id, address } = actor;
  const { sequence, at } = await db
    .insertInto('audit')
    .values({ at: now, actor: name, token_id, address, action, detail: JSON.stringify(detail) })
    .returning(['sequence', 'at'])
    .executeTakeFirstOrThrow();
  const { workspace } = detail;
  if (typeof workspace !== 'string') return;
  const occurredAt = asTimestamp(at);
  const entry = { sequence, at: occurredAt, actor: name, token_id, address, action, detail };
  await recordEvents(db, now, [{ type: 'audit.recorded', workspace, occurredAt, data: { entry } }]);
}
