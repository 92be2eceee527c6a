import { sql } from 'kysely';
import type { Database, Now } from '../storage/storage.ts';
import type { LockRow } from './lock-row.ts';

export interface FoundLock extends LockRow {
  /** False: it has expired, and only its row is still there. */
  readonly live: boolean;
  /** Rounded up, so that who waits that long does not come too early. */
  readonly remainingSeconds: number;
}

export async function findLock(
  db: Database,
  now: Now,
  workspace: string,
  path: string,
): Promise<FoundLock | undefined> {
  const row = await db
    .selectFrom('locks')
    .selectAll()
    .select(sql<number>`expires_at - ${now}`.as('remaining'))
    .where('workspace_id', '=', workspace)
    .where('path', '=', path)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { remaining, ...lock } = row;
  return { ...lock, live: remaining > 0, remainingSeconds: Math.ceil(remaining / 1_000) };
}
