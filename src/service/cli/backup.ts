import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { packageVersion } from '../../built/version.ts';
import { CommandError, defineCommand } from '../../command/command.ts';
import { deliberateToggle, required } from '../../command/flags.ts';
import { awaitStop, type ProcessIo } from '../../command/io.ts';
import { quoted } from '../../command/print.ts';
import { pluralize, timeCell } from '../../interface/format.ts';
import { textOf } from '../../interface/parsed.ts';
import { recordAudit } from '../audit/audit.ts';
import { raiseFences, restoreBackup } from '../backup/restore.ts';
import { writeBackup } from '../backup/write.ts';
import { flushFolder } from '../storage/make-folder.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { databaseUrl, withDatabase, withFileErrors, withOwnFolder } from './open-storage.ts';
import { commonFlags, defineStorageCommand, operatorActor, storageVariables } from './storage-command.ts';

const parseFile = textOf('the path of a file');

const backup = defineStorageCommand({
  name: 'backup',
  summary: 'write the complete database to a file, while the service runs',
  details: [
    'Mirrors and LFS objects are not included: the service fetches them again.',
    'The file contains the secrets of webhooks and pools, and the passwords of remotes. Only this user can read it. Keep it safe.',
    '"workspace-service restore" restores it into SQLite or PostgreSQL, regardless of where it comes from.',
  ],
  arguments: { file: required('FILE', 'the file to create', parseFile) },
  example: 'workspaces.backup',
  async run({ arguments: { file }, io }, storage) {
    const { header, rows } = await withFileErrors(file, writeToFile(storage, file, io));
    const taken_at = asTimestamp(header.taken_at);
    return {
      document: { taken_at, service_version: header.service, schema_version: header.schema, rows },
      lines: [
        `Wrote the database as of ${timeCell(taken_at)} to ${quoted(file)}: ${totalOf(rows)}, with schema ${header.schema}.`,
      ],
    };
  },
});

function totalOf(rows: Readonly<Record<string, number>>): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return pluralize(total, 'row');
}

/** Creates a file that only this user can read, and removes it if it was not completed. */
async function writeToFile(storage: Storage, file: string, io: ProcessIo) {
  const { interrupted, exitCode, forget } = awaitStop(io);
  const handle = await withFileErrors(file, open(file, 'wx', 0o600), {
    EEXIST: 'it already exists. Choose another name, or remove it',
    ENOENT: 'its folder does not exist',
  });
  try {
    const output = addAbortSignal(interrupted, handle.createWriteStream({ flush: true }));
    // Handles an interruption before the first write. writeBackup() then rejects.
    output.on('error', () => undefined);
    return await writeBackup(storage, packageVersion, output);
  } catch (error) {
    await rm(file);
    throw interrupted.aborted ? new CommandError('Interrupted. Nothing was written.', exitCode()) : error;
  } finally {
    forget();
    flushFolder(dirname(file));
  }
}

const restore = defineCommand({
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
  arguments: { file: required('FILE', 'a file that "backup" wrote', parseFile) },
  example: 'workspaces.backup',
  async run({ flags: { data, replace }, arguments: { file }, environment }) {
    const input = (await withFileErrors(file, open(file))).createReadStream();
    const restoreIt = () =>
      withDatabase({ data, environment }, (storage) =>
        restoreBackup(storage, input, { replace, actor: operatorActor() }),
      );
    const isInFolder = databaseUrl(environment) === null;
    const restoring = isInFolder ? withOwnFolder(data, 'Stop it, then restore again.', restoreIt) : restoreIt();
    const restored = await withFileErrors(
      file,
      restoring.finally(() => input.destroy()),
    );
    const { header, rows, fencesRaisedBy, activeLocks: active_locks } = restored;
    const taken_at = asTimestamp(header.taken_at);
    return {
      document: { taken_at, service_version: header.service, schema_version: header.schema, rows, active_locks },
      lines: [
        `Restored the backup of ${timeCell(taken_at)}: ${totalOf(rows)}, with schema ${header.schema}.`,
        `Fences raised by ${fencesRaisedBy}. All sessions of the dashboard, and links to it, have ended.`,
        `Locks restored until they expire: ${active_locks}. List them with "lock list" when the service has started.`,
        'Changes since the backup are undone. Revoke all tokens again that were revoked since then. JWTs of jobs that were',
        'exchanged since then can be exchanged again until they expire.',
      ],
    };
  },
});

/** Generous: nobody promotes a standby that lags a week behind its primary. */
const longestLagMs = 7 * 86_400_000;

const raiseFencesCommand = defineStorageCommand({
  name: 'raise-fences',
  summary: 'raise the fences of all workspaces, after promoting a standby that may lack recent changes',
  details: [
    'An asynchronous standby can lack the last locks of its primary, and would issue their fences again. Promote it, run this',
    'command, and only then start the service. Running it twice does no harm.',
  ],
  example: '--json',
  async run(_context, { change }) {
    const fences_raised_by = await change(async (db, actor) => {
      const raisedBy = await raiseFences(db, longestLagMs);
      await recordAudit(db, { actor, action: 'fences.raised', detail: { fences_raised_by: raisedBy } });
      return raisedBy;
    });
    return { document: { fences_raised_by }, lines: [`Fences raised by ${fences_raised_by}.`] };
  },
});

export const backupCommands = [backup, restore, raiseFencesCommand];
