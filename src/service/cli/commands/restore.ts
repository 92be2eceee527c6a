import type { Readable } from 'node:stream';
import { type Restored, restoreBackup } from '../../backup/restore.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { backupFailure, openBackupFile } from '../backup-file.ts';
import { defineCommand } from '../command.ts';
import { required, toggle } from '../flags.ts';
import { databaseUrl, openStorage, prepareDataFolder, printMigration } from '../open-storage.ts';
import { rowCounts } from '../output/backup.ts';
import { printJson, shownTime } from '../output/print.ts';
import { type OutputBlock, printLines } from '../output/table.ts';
import type { ProcessIo } from '../process-io.ts';
import { takeInstanceLock } from '../serve/instance-lock.ts';
import { commonFlags, operatorActor, storageVariables } from '../storage-command.ts';
import { parseFile } from '../values.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'make the database what it was at the time of a backup, while the service is stopped',
  details: [
    'Restores everything or, if it fails, nothing. Fences are raised above any that were given out since the backup, and all',
    'sessions of the dashboard end. Locks are back until they expire, also those that were released since.',
    'A backup of SQLite can be restored into PostgreSQL (set DATABASE_URL), and the other way round.',
  ],
  variables: storageVariables,
  flags: {
    replace: toggle('remove the data of the database first, including the audit; otherwise it must be empty'),
    ...commonFlags,
  },
  arguments: { file: required('FILE', 'a file that "workspace-service backup" wrote, or - for stdin', parseFile) },
  example: 'workspaces.backup',
  async run({ flags: { data, json, replace }, arguments: { file }, environment, io }) {
    const input = await openInput(file, io);
    const restored = await withOwnDatabase({ data, environment, io }, (storage) =>
      restoreBackup(storage, input, { replace, actor: operatorActor() }),
    )
      .catch((error: unknown) => {
        throw backupFailure(file, error);
      })
      .finally(() => input.destroy());
    if (json) printJson(io.stdout, documentOf(restored));
    else printLines(io.stdout, linesOf(restored));
  },
});

const openInput = async (file: string, io: ProcessIo): Promise<Readable> =>
  file === '-' ? io.input() : (await openBackupFile(file)).createReadStream();

const documentOf = ({ header, rows, ...restored }: Restored) => ({
  taken_at: asTimestamp(header.taken_at),
  service_version: header.service,
  backup_schema_version: header.schema,
  schema_version: restored.schema,
  rows,
  fences_raised_by: restored.fencesRaisedBy,
  sessions_ended: restored.endedSessions,
  sign_in_links_ended: restored.endedLinks,
  live_locks: restored.liveLocks,
});

/** Keeps services off the folder during the work. On PostgreSQL, restoreBackup() checks for running instances. */
async function withOwnDatabase<T>(
  { data, environment, io }: { readonly data: string; readonly environment: NodeJS.ProcessEnv; readonly io: ProcessIo },
  work: (storage: Awaited<ReturnType<typeof openStorage>>) => Promise<T>,
): Promise<T> {
  const isElsewhere = databaseUrl(environment) !== null;
  if (!isElsewhere) prepareDataFolder(data);
  const release = isElsewhere ? () => {} : takeInstanceLock(data, 'Stop it, then restore again.');
  try {
    const storage = await openStorage(data, environment, { onMigrated: printMigration(io) });
    return await work(storage).finally(storage.close);
  } finally {
    release();
  }
}

function linesOf({ header, rows, ...restored }: Restored): readonly OutputBlock[] {
  const migrated = header.schema === restored.schema ? '' : `, migrated from schema ${header.schema}`;
  return [
    `Restored the backup of ${shownTime(asTimestamp(header.taken_at))}, with schema ${restored.schema}${migrated}:`,
    ...rowCounts(rows),
    '',
    `Fences raised by ${restored.fencesRaisedBy}. Sessions of the dashboard ended: ${restored.endedSessions}, sign-in links: ${restored.endedLinks}.`,
    `Locks that are back until they expire: ${restored.liveLocks}. "workspace-service lock list" lists them.`,
    'Changes since the backup are undone. Revoke again the tokens that were revoked since.',
  ];
}
