import { type FileHandle, open } from 'node:fs/promises';
import { BackupError, type Counts } from '../../backup/format.ts';
import { systemErrorText } from '../../platform/system-errors.ts';
import { CommandError } from '../definition/command.ts';
import { quoted } from '../output/print.ts';
import { type OutputBlock, textTable } from '../output/table.ts';

/** Readable by the current user only. Does not overwrite a file. */
export const createBackupFile = (file: string): Promise<FileHandle> =>
  open(file, 'wx', 0o600).catch((error: unknown) => {
    throw backupFailure(file, error, { EEXIST: 'it already exists. Choose another name, or remove it' });
  });

export const openBackupFile = (file: string): Promise<FileHandle> =>
  open(file, 'r').catch((error: unknown) => {
    throw backupFailure(file, error, { ENOENT: 'it does not exist' });
  });

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  EISDIR: 'it is a folder',
  EPIPE: 'the process that reads it has ended',
};

/** Explains errors of the file and its content. Other errors, such as those of the database, are returned unchanged. */
export function backupFailure(file: string, error: unknown, texts: Readonly<Record<string, string>> = {}): unknown {
  if (error instanceof BackupError) return new CommandError(error.message);
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const code = String(error.code);
  const reason = texts[code] ?? fileErrors[code] ?? systemErrorText(code);
  const name = file === '-' ? 'The pipe' : `The file ${quoted(file)}`;
  return reason === undefined ? error : new CommandError(`${name} cannot be used: ${reason}.`);
}

export const rowCounts = (rows: Counts): readonly OutputBlock[] =>
  textTable(
    Object.entries(rows).filter(([, count]) => count > 0),
    { KIND: ([name]) => name.replaceAll('_', ' '), ROWS: ([, count]) => String(count) },
    'Nothing is stored yet.',
  );
