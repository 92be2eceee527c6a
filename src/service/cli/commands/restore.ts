import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { timeCell } from '../../../interface/format.ts';
import { BackupError } from '../../backup/format.ts';
import { type Restored, restoreBackup } from '../../backup/restore.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { CommandError, defineCommand } from '../definition/command.ts';
import { deliberateToggle, required } from '../definition/flags.ts';
import { withFileErrors } from '../definition/system-errors.ts';
import { parseFileOrPipe } from '../definition/values.ts';
import { type CommandOutput, printOutput } from '../output/print.ts';
import type { ProcessIo } from '../output/process-io.ts';
import { withOwnDatabase } from '../serve/instance-lock.ts';
import { printMigration } from '../storage/open-storage.ts';
import { commonFlags, operatorActor, storageVariables } from '../storage/storage-command.ts';
import { rowCounts } from './backup.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'restore the database from a backup, while the service is stopped',
  details: [
    'A restore that fails changes nothing. A successful one restores all locks of the backup until they expire, even those',
    'released since, raises all fences above any issued since the backup, and ends all sessions of the dashboard.',
    'A backup of SQLite can be restored into PostgreSQL (set DATABASE_URL), and vice versa.',
  ],
  variables: storageVariables,
  flags: {
    replace: deliberateToggle('first remove all data, including the audit log; without it, the database must be empty'),
    ...commonFlags,
  },
  arguments: { file: required('FILE', 'a file that "backup" wrote, or - for stdin', parseFileOrPipe) },
  example: 'workspaces.backup',
  async run({ flags: { data, json, replace }, arguments: { file }, environment, io }) {
    const input = await openInput(file, io);
    const advice = 'Stop it, then restore again.';
    const database = { data, environment, advice, onMigrated: printMigration(io) };
    const restoring = withOwnDatabase(database, (storage) =>
      restoreBackup(storage, input, { replace, actor: operatorActor() }),
    ).finally(() => input.destroy());
    const restored = await withFileErrors(file, restoring).catch((error: unknown) => {
      throw error instanceof BackupError ? new CommandError(error.message) : error;
    });
    printOutput(io.stdout, json, outputOf(restored));
  },
});

const openInput = async (file: string, io: ProcessIo): Promise<Readable> =>
  file === '-' ? io.input() : (await withFileErrors(file, open(file))).createReadStream();

function outputOf({ header, rows, ...restored }: Restored): CommandOutput {
  const taken_at = asTimestamp(header.taken_at);
  const migrated = header.schema === restored.schema ? '' : `, migrated from schema ${header.schema}`;
  return {
    document: {
      taken_at,
      service_version: header.service,
      backup_schema_version: header.schema,
      schema_version: restored.schema,
      rows,
      fences_raised_by: restored.fencesRaisedBy,
      sessions_ended: restored.endedSessions,
      sign_in_links_ended: restored.endedLinks,
      live_locks: restored.activeLocks,
    },
    lines: [
      `Restored the backup of ${timeCell(taken_at)}, with schema ${restored.schema}${migrated}:`,
      ...rowCounts(rows),
      '',
      `Fences raised by ${restored.fencesRaisedBy}. Ended dashboard sessions: ${restored.endedSessions}, sign-in links: ${restored.endedLinks}.`,
      `Locks restored until they expire: ${restored.activeLocks}. List them with "lock list" when the service has started.`,
      'Changes since the backup are undone. Revoke all tokens again that were revoked since then.',
    ],
  };
}
