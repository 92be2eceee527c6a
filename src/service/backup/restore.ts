import type { Readable } from 'node:stream';
import { type Selectable, sql } from 'kysely';
import { quoteForLog } from '../../interface/safe-text.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { migrate, schemaVersion } from '../storage/migrate.ts';
import type { Database, Dialect, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { countActiveLocks } from '../workspaces/workspaces.ts';
import { BackupError, damaged, type Header, tableKeys } from './format.ts';
import { load, readBackup } from './load.ts';
import { waitForReader } from './write.ts';

export type Restored = Awaited<ReturnType<typeof restoreBackup>>;

/**
 * Restores the database from a backup of SQLite or PostgreSQL, in one transaction: after an error, nothing is changed.
 * Fences that were issued since the backup are not issued again, and sessions that ended since then stay ended. With
 * `replace`, removes the data of the database first.
 */
export const restoreBackup = (
  { rebuild, dialect, now }: Storage,
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
    const { header, rows } = await readBackup(input, async (header, lines) => {
      refuseNewerSchema(header);
      await emptyDatabase(db, dialect);
      return { header, rows: await loadSchema(header, lines, db, dialect) };
    });
    await refuseUnusableWorkspaces(db);

    const { time } = await db.selectNoFrom(now.as('time')).executeTakeFirstOrThrow();
    const fencesRaisedBy = await raiseFences(db, fencesBefore, time - header.taken_at);
    const ended = { ...(await endSessions(db)), activeLocks: await countActiveLocks(db, now) };
    await recordAudit(db, now, {
      actor,
      action: 'backup.restored',
      detail: { taken_at: asTimestamp(header.taken_at), fences_raised_by: fencesRaisedBy },
    });
    return { header, rows, ...ended, schema: schemaVersion(), fencesRaisedBy };
  });

async function loadSchema({ schema }: Header, lines: AsyncIterable<string>, db: Database, dialect: Dialect) {
  await migrate(db, dialect, schema);
  // The only row that the schema starts with.
  await sql`delete from fences`.execute(db).catch(asDamage);
  const rows = await load(lines, db, dialect);
  await migrate(db, dialect).catch(asDamage);
  return rows;
}

/** The header may name another schema than that of the rows. */
function asDamage(error: unknown): never {
  if (!(error instanceof Error) || databaseProblem(error) !== undefined) throw error;
  throw damaged(`its rows do not have the schema that its header names (${error.message})`);
}

/** Ids become names of folders and parts of URLs. */
async function refuseUnusableWorkspaces(db: Database): Promise<void> {
  const workspaces = await db.selectFrom('workspaces').select('id').execute();
  const wrong = workspaces.find(({ id }) => !parseWorkspaceId(id).ok);
  if (wrong !== undefined) throw damaged(`no workspace can have the id ${quoteForLog(wrong.id)}`);
}

function refuseNewerSchema({ schema, service }: Header): void {
  if (schema <= schemaVersion()) return;
  throw new BackupError(
    `The backup is of a newer version of the service, ${service} (its schema is ${schema}, this version supports ${schemaVersion()}). Nothing was changed. Restore it with that version.`,
  );
}

/** A session or a link that ended after the backup must not work again. */
async function endSessions(db: Database) {
  const sessions = await db.deleteFrom('sessions').executeTakeFirst();
  const links = await db
    .updateTable('sign_in_links')
    .set(({ ref }) => ({ used_at: ref('expires_at') }))
    .where('used_at', 'is', null)
    .executeTakeFirst();
  return { endedSessions: Number(sessions.numDeletedRows), endedLinks: Number(links.numUpdatedRows) };
}

/** Tables with data of users. An unused service has rows only in other tables, and creates them again. */
const tablesOfUsers = ['workspaces', 'tokens', 'trust_rules', 'audit'] as const;

async function refuseStoredData(db: Database): Promise<void> {
  for (const table of tablesOfUsers) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length === 0) continue;
    throw new BackupError(
      'The database is not empty. Restore into an empty one, or add --replace to remove its data, including the audit.',
    );
  }
}

/**
 * Every instance polls for work and so always has a connection. This process has only this one. A service that starts
 * during the restore waits for it, or gives up.
 */
async function refuseOtherUsers(db: Database): Promise<void> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'workspace-service' and pid <> pg_backend_pid()
    limit 1`.execute(db);
  if (rows.length === 0) return;
  throw new BackupError(
    'A service, or another command, is using the database that DATABASE_URL names. Stop all instances, then restore again.',
  );
}

/** Drops the tables, because rows of the audit cannot be deleted. */
async function emptyDatabase(db: Database, dialect: Dialect): Promise<void> {
  for (const table of [...tableKeys.map(([table]) => table).toReversed(), 'schema_version'])
    await sql`drop table ${sql.table(table)}`.execute(db);
  if (dialect === 'postgres') await sql`drop function audit_refuses(), audit_keeps()`.execute(db);
}

/**
 * Far more fences than a workspace can issue in a millisecond, because each is written to disk. The margin also covers
 * a clock that was set back, and the clock of another database.
 */
const maxFencesPerMs = 100;

/** Minimum, for the moment of the backup itself and for clocks that differ. */
const minRaise = 1_000_000;

/**
 * Raises the last fence of every workspace above all fences that may have been issued since the backup, and above those
 * of the replaced database. Returns the difference.
 */
export async function raiseFences(
  db: Database,
  replaced: readonly Selectable<Tables['fences']>[],
  sinceBackupMs: number,
): Promise<number> {
  const raisedBy = minRaise + maxFencesPerMs * Math.max(0, sinceBackupMs);
  await db
    .updateTable('fences')
    .set({ value: sql<number>`value + ${sql.lit(raisedBy)}` })
    .execute();
  // One by one: a statement has a limited number of parameters, and there is a fence for each workspace that ever was.
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
  return raisedBy;
}
