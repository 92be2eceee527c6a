import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { packageVersion } from '../../built/version.ts';
import { CommandError, defineCommand } from '../../command/command.ts';
import { deliberateToggle, required } from '../../command/flags.ts';
import { awaitStop, exitCodeOf, type ProcessIo } from '../../command/io.ts';
import { type CommandOutput, type OutputBlock, printOutput, quoted, textTable } from '../../command/print.ts';
import { withFileErrors } from '../../command/system-errors.ts';
import { parseFileOrPipe } from '../../command/values.ts';
import { timeCell } from '../../interface/format.ts';
import { recordAudit } from '../audit/audit.ts';
import { BackupError, type Restored, raiseFences, restoreBackup } from '../backup/restore.ts';
import { type RowCounts, writeBackup } from '../backup/write.ts';
import { flushFolder } from '../storage/make-folder.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { printMigration, withOwnDatabase } from './open-storage.ts';
import { commonFlags, defineStorageCommand, operatorActor, storageVariables } from './storage-command.ts';

const backup = defineStorageCommand({
  name: 'backup',
  summary: 'write the complete database to a file, while the service runs',
  details: [
    'Mirrors and LFS objects are not included: the service fetches them again.',
    'The file contains the secrets of webhooks and pools, and the passwords of remotes. Only this user can read it. Keep it safe.',
    '"workspace-service restore" can restore it into SQLite or PostgreSQL, regardless of its origin.',
  ],
  arguments: { file: required('FILE', 'the file to create, or - for stdout', parseFileOrPipe) },
  example: 'workspaces.backup',
  async run({ arguments: { file }, io }, storage) {
    const isPiped = file === '-';
    if (isPiped && io.stdout.columns !== undefined)
      throw new CommandError('A backup cannot be written to a terminal. Redirect stdout to a file or a pipe.', 2);
    const writing = isPiped ? writeBackup(storage, packageVersion, io.output()) : writeToFile(storage, file, io);
    const { header, rows } = await withFileErrors(file, writing);
    const taken_at = asTimestamp(header.taken_at);
    const where = isPiped ? 'stdout' : quoted(file);
    return {
      isPiped,
      document: { taken_at, service_version: header.service, schema_version: header.schema, rows },
      lines: [
        `Wrote the database as of ${timeCell(taken_at)} to ${where}, with schema ${header.schema}:`,
        ...rowCounts(rows),
      ],
    };
  },
});

const rowCounts = (rows: RowCounts): readonly OutputBlock[] =>
  textTable(
    Object.entries(rows).filter(([, count]) => count > 0),
    { KIND: ([name]) => name.replaceAll('_', ' '), ROWS: ([, count]) => String(count) },
    'Nothing is stored yet.',
  );

/** Creates a file for the current user only, which gets its name when it is complete. */
async function writeToFile(storage: Storage, file: string, io: ProcessIo) {
  refuseExisting(file);
  const interruption = new AbortController();
  const stop = awaitStop(io);
  void stop.received.then((signal) =>
    interruption.abort(new CommandError('Interrupted. Nothing was written.', exitCodeOf(signal))),
  );
  const partial = `${file}.${randomUUID()}.partial`;
  const handle = await withFileErrors(file, open(partial, 'wx', 0o600), { ENOENT: 'its folder does not exist' });
  try {
    const output = addAbortSignal(interruption.signal, handle.createWriteStream({ flush: true }));
    // An interruption before the first write: writeBackup() rejects.
    output.on('error', () => undefined);
    const written = await writeBackup(storage, packageVersion, output);
    // Unlike rename(), link() does not replace a file that has appeared meanwhile. Some file systems have no links.
    await link(partial, file).catch(() => {
      refuseExisting(file);
      return rename(partial, file);
    });
    return written;
  } catch (error) {
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    stop.forget();
    await rm(partial, { force: true });
    flushFolder(dirname(file));
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file))
    throw new CommandError(`The file ${quoted(file)} already exists. Choose another name, or remove it.`);
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
  return {
    document: {
      taken_at,
      service_version: header.service,
      schema_version: header.schema,
      rows,
      fences_raised_by: restored.fencesRaisedBy,
      sessions_ended: restored.endedSessions,
      sign_in_links_ended: restored.endedLinks,
      live_locks: restored.activeLocks,
    },
    lines: [
      `Restored the backup of ${timeCell(taken_at)}, with schema ${header.schema}:`,
      ...rowCounts(rows),
      '',
      `Fences raised by ${restored.fencesRaisedBy}. Ended dashboard sessions: ${restored.endedSessions}, sign-in links: ${restored.endedLinks}.`,
      `Locks restored until they expire: ${restored.activeLocks}. List them with "lock list" when the service has started.`,
      'Changes since the backup are undone. Revoke all tokens again that were revoked since then.',
    ],
  };
}

/** Generous limit: no standby that lags a week behind its primary is promoted. */
const longestLagMs = 7 * 86_400_000;

const raiseFencesCommand = defineStorageCommand({
  name: 'raise-fences',
  summary: 'raise the fences of all workspaces, after promoting a standby that may lack the last changes',
  details: [
    'An asynchronous standby can lack the last locks of its primary, and would issue their fences again. Promote it, run this',
    'command, and only then start the service. Running it twice does no harm.',
  ],
  example: '--json',
  async run(_context, { commit, now }) {
    const fences_raised_by = await commit('global', async (db) => {
      const raisedBy = await raiseFences(db, longestLagMs);
      const detail = { fences_raised_by: raisedBy };
      await recordAudit(db, now, { actor: operatorActor(), action: 'fences.raised', detail });
      return raisedBy;
    });
    return { document: { fences_raised_by }, lines: [`Fences raised by ${fences_raised_by}.`] };
  },
});

export const backupCommands = [backup, restore, raiseFencesCommand];
