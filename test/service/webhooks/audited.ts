import type { Storage } from '../../../src/service/storage/storage.ts';

export interface AuditedAct {
  readonly action: string;
  readonly actor: string;
  readonly token_id: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What the audit has of one hook, the oldest first: no test can empty it for the next. */
export async function auditOf({ read }: Storage, hook: string): Promise<AuditedAct[]> {
  const rows = await read
    .selectFrom('audit')
    .select(['action', 'actor', 'token_id', 'detail'])
    .orderBy('sequence')
    .execute();
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) })).filter(({ detail }) => detail.hook === hook);
}
