import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { quoteForLog } from '../../interface/safe-text.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { migrate, schemaVersion } from '../storage/migrate.ts';
import type { Database, Dialect, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { countActiveLocks } from '../workspaces/workspaces.ts';
import { emptyDatabase, refuseOtherUsers, refuseStoredData } from './empty.ts';
import { raiseFences } from './fences.ts';
import { BackupError, damaged, type Header } from './format.ts';
import { load } from './load.ts';
import { readBackup } from './read.ts';
import { waitForReader } from './snapshot.ts';

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
