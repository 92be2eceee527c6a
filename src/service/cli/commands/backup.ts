import { rm } from 'node:fs/promises';
import { type WrittenBackup, writeBackup } from '../../backup/write.ts';
import type { Storage } from '../../storage/storage.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { backupFailure, createBackupFile } from '../backup-file.ts';
import { CommandError, defineCommand } from '../command.ts';
import { required } from '../flags.ts';
import { openStorage, printMigration } from '../open-storage.ts';
import { rowCounts } from '../output/backup.ts';
import { printJson, quoted, shownTime } from '../output/print.ts';
import { printLines } from '../output/table.ts';
import { type ProcessIo, packageVersion } from '../process-io.ts';
import { commonFlags, requireStored, storageVariables } from '../storage-command.ts';
import { parseFile } from '../values.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'write everything in the database to one file, while the service runs',
  details: [
    'Mirrors and LFS objects are not in it: the service fetches them again.',
    'The file contains the secrets of webhooks and the passwords of remotes. Only this user can read it. Keep it safe.',
    '"workspace-service restore" reads it into SQLite or PostgreSQL, whichever it came from.',
  ],
  variables: storageVariables,
  flags: commonFlags,
  arguments: { file: required('FILE', 'the file to create, or - for stdout', parseFile) },
  example: 'workspaces.backup',
  async run({ flags: { data, json }, arguments: { file }, environment, io }) {
    requireStored(data, environment);
    const isPiped = file === '-';
    if (isPiped && io.stdout.columns !== undefined)
      throw new CommandError('A backup cannot be written to a terminal. Redirect stdout to a file or a pipe.', 2);
    const storage = await openStorage(data, environment, { onMigrated: printMigration(io) });
    const write = isPiped ? writeToStdout(storage, io) : writeToFile(storage, file);
    const { header, rows } = await write.finally(storage.close);
    const taken_at = asTimestamp(header.taken_at);
    // Stdout is the backup itself.
    const output = isPiped ? io.stderr : io.stdout;
    if (json) {
      printJson(output, { taken_at, service_version: header.service, schema_version: header.schema, rows });
    } else {
      const where = isPiped ? 'stdout' : quoted(file);
      printLines(output, [
        `Wrote the database as of ${shownTime(taken_at)} to ${where}, with schema ${header.schema}:`,
        ...rowCounts(rows),
      ]);
    }
  },
});

const writeToStdout = (storage: Storage, io: ProcessIo): Promise<WrittenBackup> =>
  writeBackup(storage, packageVersion(), io.output()).catch((error: unknown) => {
    throw backupFailure('-', error);
  });

/** Removes a file that could not be completed. */
async function writeToFile(storage: Storage, file: string): Promise<WrittenBackup> {
  const handle = await createBackupFile(file);
  try {
    return await writeBackup(storage, packageVersion(), handle.createWriteStream({ flush: true }));
  } catch (error) {
    await rm(file, { force: true });
    throw backupFailure(file, error);
  }
}
