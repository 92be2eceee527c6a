import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from '@hono/zod-openapi';
import { sql } from 'kysely';
import { CommandError } from '../../command/command.ts';
import { quoteForLog } from '../../interface/safe-text.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { parseJson } from '../contract/response.ts';
import { createTables, schemaVersion } from '../storage/schema.ts';
import type { Database, Dialect, Storage } from '../storage/storage.ts';
import { asTimestamp, timeOf } from '../storage/timestamp.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { countActiveLocks } from '../workspaces/workspaces.ts';
import { type Header, headerSchema, tableKeys, waitForReader } from './write.ts';

/**
 * Restores the database from a backup of SQLite or PostgreSQL in one transaction, so that an error leaves it unchanged.
 * Fences issued since the backup are not issued again, and sessions that ended since then stay ended. `replace` removes
 * all data of the database first.
 */
export const restoreBackup = (
  { rebuild, dialect }: Storage,
  input: Readable,
  { replace, actor }: { readonly replace: boolean; readonly actor: Actor },
) =>
  rebuild(async (db) => {
    if (dialect === 'postgres') {
      await refuseOtherUsers(db);
      await waitForReader(db);
    }
    if (!replace) await refuseStoredData(db);
    const fencesBefore = await db.selectFrom('fences').selectAll().execute();
    const { header, rows } = await load(input, db, dialect);
    await refuseUnusableWorkspaces(db);

    const fencesRaisedBy = await raiseFences(db, (await timeOf(db)) - header.taken_at);
    await keepHigherFences(db, fencesBefore);
    await endSessions(db);
    await recordAudit(db, {
      actor,
      action: 'backup.restored',
      detail: { taken_at: asTimestamp(header.taken_at), fences_raised_by: fencesRaisedBy },
    });
    return { header, rows, fencesRaisedBy, activeLocks: await countActiveLocks(db) };
  });

const damaged = (reason: string): CommandError =>
  new CommandError(`The backup is damaged: ${reason}. Nothing was changed. Restore another backup.`);

const unsupported = (detail: string): CommandError =>
  new CommandError(
    `The file is not a backup that this version of workspace-service can read. Nothing was changed. ${detail}`,
  );

/** Replaces all tables with those of the backup. If it throws, even at the end, the transaction must be rolled back. */
async function load(input: Readable, db: Database, dialect: Dialect) {
  const counts: Record<string, number> = {};
  try {
    return await pipeline(input, createGunzip().setEncoding('utf8'), async (text: AsyncIterable<string>) => {
      const lines = linesOf(text);
      const header = parseHeader((await lines.next()).value ?? '');
      await emptyDatabase(db, dialect);
      for await (const line of lines) {
        const [table, rows] = parseJson(rowsSchema, line) ?? [];
        if (table === undefined || rows === undefined) throw damaged('one of its lines is not an entry of a backup');
        await insertRows(db, dialect, table, rows);
        counts[table] = (counts[table] ?? 0) + rows.length;
      }
      if (dialect === 'postgres') await continueSequences(db);
      return { header, rows: counts };
    });
  } catch (error) {
    throw explainZlibError(error);
  }
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  // A line may have megabytes, and arrives in pieces, which are joined only once.
  let begun: string[] = [];
  for await (const piece of text) {
    const [end = '', ...lines] = piece.split('\n');
    begun.push(end);
    const rest = lines.pop();
    if (rest === undefined) continue;
    yield begun.join('');
    yield* lines;
    begun = [rest];
  }
  if (begun.some((piece) => piece !== '')) yield begun.join('');
}

function parseHeader(line: string): Header {
  const header = parseJson(headerSchema, line);
  if (header === undefined) throw unsupported('Restore a file that "workspace-service backup" wrote.');
  if (header.schema === schemaVersion) return header;
  throw unsupported(`Restore it with version ${header.service}, which wrote it.`);
}

type Row = Readonly<Record<string, string | number | null>>;

const rowsSchema = z.tuple([
  z.enum(tableKeys.map(([table]) => table)),
  z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
]);

async function insertRows(db: Database, dialect: Dialect, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((name) => row[name]))})`);
  // PostgreSQL generates the sequence numbers of audit entries and deliveries, and rejects others without this clause.
  const overriding = dialect === 'postgres' ? sql`overriding system value` : sql``;
  const names = sql.join(columns.map((name) => sql.ref(name)));
  try {
    await sql`insert into ${sql.table(table)} (${names}) ${overriding} values ${sql.join(values)}`.execute(db);
  } catch (error) {
    if (databaseProblem(error) !== undefined || !(error instanceof Error)) throw error;
    throw damaged(`the database does not accept rows of the table "${table}" (${error.message})`);
  }
}

/** Continues after the highest number. SQLite does so by itself. */
async function continueSequences(db: Database): Promise<void> {
  for (const table of ['audit', 'deliveries', 'ended_locks']) {
    const last = sql`(select max(sequence) from ${sql.table(table)})`;
    await sql`select setval(pg_get_serial_sequence(${table}, 'sequence'), ${last}) where ${last} is not null`.execute(
      db,
    );
  }
}

/** Converts errors of zlib for truncated and invalid input: https://www.zlib.net/manual.html */
function explainZlibError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'Z_BUF_ERROR') return damaged('its end is missing');
  if (error.code !== 'Z_DATA_ERROR') return error;
  return error.message === 'incorrect header check'
    ? unsupported('Restore a file that "workspace-service backup" wrote.')
    : damaged('its checksum or its compression is wrong');
}

/** Workspace ids are also names of folders and parts of URLs. */
async function refuseUnusableWorkspaces(db: Database): Promise<void> {
  const workspaces = await db.selectFrom('workspaces').select('id').execute();
  const wrong = workspaces.find(({ id }) => !parseWorkspaceId(id).ok);
  if (wrong !== undefined) throw damaged(`no workspace can have the id ${quoteForLog(wrong.id)}`);
}

/** Sessions and links that ended after the backup must not work again. */
async function endSessions(db: Database): Promise<void> {
  await db.deleteFrom('sessions').execute();
  await db.deleteFrom('sign_in_links').execute();
}

/** Tables with user data. An unused service has rows only in other tables, and can create those again. */
const tablesOfUsers = ['workspaces', 'tokens', 'trust_rules', 'audit'] as const;

async function refuseStoredData(db: Database): Promise<void> {
  for (const table of tablesOfUsers) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length === 0) continue;
    throw new CommandError(
      'The database is not empty. Restore into an empty one, or add --replace to remove its data, including the audit log.',
    );
  }
}

/**
 * Refuses if another process uses the database. Every instance polls for work, so it always has a connection, and this
 * process has only one. A service that starts during the restore waits for it, or gives up.
 */
async function refuseOtherUsers(db: Database): Promise<void> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'workspace-service' and pid <> pg_backend_pid()
    limit 1`.execute(db);
  if (rows.length === 0) return;
  throw new CommandError(
    'A service, or another command, is using the database that DATABASE_URL names. Stop all instances, then restore again.',
  );
}

/** Drops and recreates the tables, which is faster than removing their rows. */
async function emptyDatabase(db: Database, dialect: Dialect): Promise<void> {
  for (const table of [...tableKeys.map(([table]) => table).toReversed(), 'schema_version'])
    await sql`drop table ${sql.table(table)}`.execute(db);
  await createTables(db, dialect);
  // The schema starts with only this row.
  await db.deleteFrom('fences').execute();
}

/**
 * More fences than a workspace can issue in a millisecond, because each is written to disk. The margin also covers
 * clocks: one that was set back, or that of another database.
 */
const maxFencesPerMs = 100;

/** Minimum, for the moment of the backup itself and for clocks that differ. */
const minRaise = 1_000_000;

/** Raises the last fence of every workspace above any issued since the backup, and returns the difference. */
export async function raiseFences(db: Database, sinceBackupMs: number): Promise<number> {
  const raisedBy = minRaise + maxFencesPerMs * Math.max(0, sinceBackupMs);
  await db
    .updateTable('fences')
    .set({ value: sql<number>`value + ${sql.lit(raisedBy)}` })
    .execute();
  return raisedBy;
}

/** Keeps the fences of the replaced database that are higher than those of the backup. */
async function keepHigherFences(
  db: Database,
  replaced: readonly { workspace_id: string; value: number }[],
): Promise<void> {
  // One at a time: the parameters of a statement are limited, and every workspace that ever existed has a fence.
  for (const fence of replaced) {
    await db
      .insertInto('fences')
      .values(fence)
      .onConflict((conflict) =>
        conflict
          .column('workspace_id')
          .doUpdateSet({ value: sql<number>`excluded.value` })
          .where(sql<boolean>`fences.value < excluded.value`),
      )
      .execute();
  }
}
