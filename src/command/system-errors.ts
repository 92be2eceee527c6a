import { errorMessage } from '../interface/format.ts';
import { errorCode, fileErrorText } from '../interface/system-errors.ts';
import { CommandError } from './command.ts';
import { quoted } from './print.ts';

/** Explains errors of the file. Other errors, such as those of the database, stay as they are. */
export const withFileErrors = <T>(file: string, work: Promise<T>, texts: Readonly<Record<string, string>> = {}) =>
  work.catch((error: unknown) => {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const reason = texts[errorCode(error)] ?? fileErrors[errorCode(error)] ?? fileErrorText(errorCode(error));
    throw reason === undefined ? error : new CommandError(`The file ${quoted(file)} cannot be used: ${reason}.`);
  });

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
};

/** The reason why a program could not be run, to complete a sentence. */
export const startErrorText = (error: unknown): string =>
  startErrors[errorCode(error)] ?? fileErrorText(errorCode(error)) ?? errorMessage(error);

const startErrors: Readonly<Record<string, string>> = {
  ENOENT: 'it, or its interpreter, does not exist',
  EACCES: 'this user may not run it',
  E2BIG: 'its arguments and variables are too long',
  ENOBUFS: 'its output is too long',
  ETIMEDOUT: 'it did not end in time',
};
