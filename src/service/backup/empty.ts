import { sql } from 'kysely';
import type { Database, Dialect } from '../storage/storage.ts';
import { BackupError } from './format.ts';
import { tableKeys } from './tables.ts';

/** Tables with data of users. An unused service has rows only in other tables, and creates them again. */
const tablesOfUsers = ['workspaces', 'tokens', 'trust_rules', 'audit'] as const;

export async function refuseStoredData(db: Database): Promise<void> {
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
export async function refuseOtherUsers(db: Database): Promise<void> {
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
export async function emptyDatabase(db: Database, dialect: Dialect): Promise<void> {
  for (const table of [...tableKeys.map(([table]) => table).toReversed(), 'schema_version'])
    await sql`drop table ${sql.table(table)}`.execute(db);
  if (dialect === 'postgres') await sql`drop function audit_refuses(), audit_keeps()`.execute(db);
}
