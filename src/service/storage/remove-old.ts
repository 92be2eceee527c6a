import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Duration } from '../../interface/duration.ts';
import { maxBusyPauseMs } from './sqlite.ts';
import type { Database, Storage } from './storage.ts';

/** Time that the service keeps data that it no longer needs itself. */
export interface Retention {
  readonly keepLockHistory: Duration;
  /** Counted from the end of a sync. */
  readonly keepSyncs: Duration;
  /** Undefined: forever. */
  readonly keepAudit: Duration | undefined;
}

interface Rows {
  readonly table: 'syncs' | 'locks' | 'lock_history' | 'deliveries' | 'remembered_answers' | 'tokens' | 'audit';
  /** Sort column. An index must start with it, or with the columns that `where` compares, followed by it. */
  readonly time: 'finished_at' | 'created_at' | 'expires_at' | 'ended_at' | 'forget_at' | 'sequence';
  /** Limits the removal to this workspace. Changes of other workspaces then do not wait. */
  readonly workspace?: string;
  /** Number of rows per transaction. Limits the time that other changes wait. */
  readonly atOnce?: number;
}

interface OldRows extends Rows {
  /** Rows without this time are never old. */
  readonly time: Exclude<Rows['time'], 'sequence' | 'expires_at'>;
  readonly keptForMs: number;
}

export async function removeOld(storage: Pick<Storage, 'read' | 'now' | 'commit'>, rows: OldRows): Promise<void> {
  // The clock is in a subquery, so that PostgreSQL reads the time once and can use the index.
  const old = sql`${sql.ref(rows.time)} <= (select ${storage.now}) - ${sql.lit(rows.keptForMs)}`;
  const within = rows.workspace === undefined ? old : sql`workspace_id = ${rows.workspace} and ${old}`;
  await removeInBatches(storage, rows, within);
}

interface Total {
  readonly max: number;
  /** Number of rows per query. Each of them is complete before other work continues. */
  readonly countedAtOnce: number;
}

/**
 * Removes the oldest rows beyond a total, and returns their number. Counts from the newest row, in batches, so that
 * other work does not wait for it. Up to one batch more than the total stays.
 */
export async function removeBeyond(
  storage: Pick<Storage, 'read' | 'commit'>,
  rows: Rows,
  { max, countedAtOnce }: Total,
): Promise<number> {
  const at = sql.ref<number>(rows.time);
  const within = rows.workspace === undefined ? sql`` : sql`workspace_id = ${rows.workspace} and`;
  let before = Number.MAX_SAFE_INTEGER;
  for (let total = 0; total < max; ) {
    await yieldToEventLoop();
    const { rows: found } = await sql<{ size: number; oldest: number | null }>`
      select count(*) as size, min(at) as oldest from (
        select ${at} as at from ${sql.table(rows.table)}
        where ${within} ${at} < ${before} order by ${at} desc limit ${sql.lit(countedAtOnce)}) as batch`.execute(
      storage.read,
    );
    const [batch] = found;
    if (batch === undefined || batch.oldest === null) return 0;
    total += Number(batch.size);
    before = Number(batch.oldest);
  }
  return removeInBatches(storage, rows, sql`${within} ${at} < ${before}`);
}

/** Pause for changes of other processes: longer than the pause between two of their attempts. */
export const pauseMs = maxBusyPauseMs + 5;

/** Removes rows in ascending order, and returns their number. In each transaction, `mayContinue` can end it early. */
export async function removeInBatches(
  { read, commit }: Pick<Storage, 'read' | 'commit'>,
  { table, time, workspace, atOnce = 1_000 }: Rows,
  where: RawBuilder<unknown>,
  mayContinue: (db: Database) => Promise<boolean> = async () => true,
): Promise<number> {
  const at = sql.ref<number>(time);
  const rows = sql.table(table);
  for (let removed = 0; ; await sleep(pauseMs)) {
    const inOrder = sql`select ${at} as at from ${rows} where ${where} order by ${at}`;
    const nth = async (offset: number) =>
      (await sql<{ at: number }>`${inOrder} limit 1 offset ${sql.lit(offset)}`.execute(read)).rows[0];
    // A change delays others, so there must be a reason for it.
    if (removed === 0 && (await nth(0)) === undefined) return 0;
    const last = await nth(atOnce - 1);
    const inRange = last === undefined ? where : sql`${where} and ${at} <= ${last.at}`;
    const inBatch = await commit(workspace === undefined ? 'global' : { workspace }, async (db) =>
      (await mayContinue(db))
        ? (await sql`delete from ${rows} where ${inRange}`.execute(db)).numAffectedRows
        : undefined,
    );
    removed += Number(inBatch ?? 0);
    if (last === undefined || inBatch === undefined) return removed;
  }
}
