import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { packageVersion } from '../../../built/version.ts';
import { timeCell } from '../../../interface/format.ts';
import type { RowCounts } from '../../backup/format.ts';
import { writeBackup } from '../../backup/write.ts';
import { flushFolder } from '../../storage/make-folder.ts';
import type { Storage } from '../../storage/storage.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { CommandError } from '../definition/command.ts';
import { required } from '../definition/flags.ts';
import { withFileErrors } from '../definition/system-errors.ts';
import { parseFileOrPipe } from '../definition/values.ts';
import { quoted } from '../output/print.ts';
import { exitCodeOf, type ProcessIo } from '../output/process-io.ts';
import { awaitStop } from '../output/stop-request.ts';
import { type OutputBlock, textTable } from '../output/table.ts';
import { defineStorageCommand } from '../storage/storage-command.ts';

export const backup = defineStorageCommand({
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

export const rowCounts = (rows: RowCounts): readonly OutputBlock[] =>
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
