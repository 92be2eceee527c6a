import type { Database, Now } from '../storage/storage.ts';

export interface AuditEntry {
  readonly actor: string;
  readonly action: 'lock.force-released';
  readonly detail: Readonly<Record<string, unknown>>;
}

/** In the same transaction as what it tells of, so that neither is there without the other. */
export async function recordAudit(db: Database, now: Now, { actor, action, detail }: AuditEntry): Promise<void> {
  await db
    .insertInto('audit')
    .values({ at: now, actor, action, detail: JSON.stringify(detail) })
    .execute();
}
