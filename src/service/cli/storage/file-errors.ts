import { BackupError } from '../../backup/format.ts';
import { fileErrorText } from '../../platform/system-errors.ts';
import { CommandError } from '../definition/command.ts';
import { quoted } from '../output/print.ts';

/** Explains errors of the file and its content. Other errors, such as those of the database, stay as they are. */
export const withFileErrors = <T>(
  file: string,
  work: Promise<T>,
  texts: Readonly<Record<string, string>> = {},
): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof BackupError) throw new CommandError(error.message);
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    const code = String(error.code);
    const reason = texts[code] ?? fileErrors[code] ?? fileErrorText(code);
    const name = file === '-' ? 'The pipe' : `The file ${quoted(file)}`;
    throw reason === undefined ? error : new CommandError(`${name} cannot be used: ${reason}.`);
  });

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  EPIPE: 'the process that reads it has ended',
};
