import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { maxBusyPauseMs } from './sqlite.ts';
import type { Storage } from './storage.ts';
import type { Tables } from './tables.ts';
import { now } from './timestamp.ts';

/** After 90 days, an ended lock or sync no longer matters. */
export const keptForMs = 90 * 86_400_000;

interface Rows {
  readonly table: keyof Tables;
  /** Sort column. The index of a large table must start with it, or with the columns that `where` compares first. */
  readonly time: 'at' | 'finished_at' | 'created_at' | 'expires_at' | 'ended_at' | 'forget_at' | 'sequence';
  /** Limits the removal to this workspace. Changes of other workspaces then do not wait. */
  readonly workspace?: string;
  /** Removes only these rows. */
  readonly only?: RawBuilder<unknown>;
  /** Number of rows per transaction. Limits the time that other changes wait. */
  readonly atOnce?: number;
}

/**
 * Removes rows older than that in each workspace, and the oldest rows beyond the maximum: each workspace has its own, so
 * that none displaces the rows of others.
 */
export async function removeOldOfWorkspaces(
  storage: Pick<Storage, 'dialect' | 'read' | 'commit'>,
  { keptForMs, max, ...rows }: Omit<Rows, 'workspace'> & Readonly<Record<'keptForMs' | 'max', number>>,
): Promise<void> {
  const workspaces = await storage.read.selectFrom('workspaces').select('id').execute();
  for (const { id: workspace } of workspaces) {
    await yieldToEventLoop();
    await removeOld(storage, { ...rows, workspace, keptForMs });
    await removeBeyond(storage, { ...rows, workspace }, max);
  }
}

/** Rows without this time never become old. */
export async function removeOld(
  storage: Pick<Storage, 'dialect' | 'read' | 'commit'>,
  rows: Rows & { readonly keptForMs: number },
): Promise<void> {
  // The clock is in a subquery, so that PostgreSQL reads it once and can use the index.
  const old = sql`${sql.ref(rows.time)} <= (select ${now}) - ${sql.lit(rows.keptForMs)}`;
  const within = rows.workspace === undefined ? old : sql`workspace_id = ${rows.workspace} and ${old}`;
  await removeInBatches(storage, rows, within);
}

/**
 * Removes the oldest rows of a workspace beyond a total. Counts in batches from the newest row, so that other work does not have to
 * wait. Keeps up to one batch more than the total.
 */
export async function removeBeyond(
  storage: Pick<Storage, 'dialect' | 'read' | 'commit'>,
  rows: Rows & { readonly workspace: string },
  max: number,
): Promise<void> {
  const at = sql.ref<number>(rows.time);
  const within = sql`workspace_id = ${rows.workspace} and`;
  let before = Number.MAX_SAFE_INTEGER;
  for (let total = 0; total < max; ) {
    await yieldToEventLoop();
    const { rows: found } = await sql<{ size: number; oldest: number | null }>`
      select count(*) as size, min(at) as oldest from (
        select ${at} as at from ${sql.table(rows.table)}
        where ${within} ${at} < ${before} order by ${at} desc limit ${sql.lit(Math.min(max, maxCounted))}) as batch`.execute(
      storage.read,
    );
    const [batch] = found;
    if (batch === undefined || batch.oldest === null) return;
    total += Number(batch.size);
    before = Number(batch.oldest);
  }
  await removeInBatches(storage, rows, sql`${within} ${at} < ${before}`);
}

/** SQLite counts these entries of an index in some milliseconds. */
const maxCounted = 50_000;

/** Pause for changes of other processes. Longer than the pause between two of their attempts. */
export const pauseMs = maxBusyPauseMs + 5;

/** Removes rows in ascending order. */
export async function removeInBatches(
  { dialect, read, commit }: Pick<Storage, 'dialect' | 'read' | 'commit'>,
  { table, time, workspace, only = sql`true`, atOnce = 1_000 }: Rows,
  where: RawBuilder<unknown>,
): Promise<void> {
  const rows = sql.table(table);
  // The time alone does not limit a batch, because thousands of locks may end at the same time.
  const rowId = sql.ref(dialect === 'postgres' ? 'ctid' : 'rowid');
  const batch = (limit: number) =>
    sql`select ${rowId} from ${rows} where ${where} and ${only} order by ${sql.ref(time)} limit ${sql.lit(limit)}`;
  // A change delays others, so it starts only if there is something to remove.
  if ((await batch(1).execute(read)).rows.length === 0) return;
  for (;;) {
    const inBatch = await commit(workspace === undefined ? 'global' : { workspace }, async (db) => {
      const { numAffectedRows = 0n } = await sql`delete from ${rows} where ${rowId} in (${batch(atOnce)})`.execute(db);
      return Number(numAffectedRows);
    });
    if (inBatch < atOnce) return;
    await sleep(pauseMs);
  }
}
