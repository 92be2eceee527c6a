import { networkErrorText } from '../../interface/network-errors.ts';

/** Reasons of failed system calls on files, to complete a sentence. Keys are codes of errno(3). */
const fileTexts: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read and write it',
  EPERM: 'this user may not read and write it',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EBUSY: 'it is in use',
  ESTALE: 'its network file system has lost it',
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its path has too many symbolic links',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'the service has too many files open',
  ENFILE: 'this machine has too many files open',
  EAGAIN: 'this machine has too many processes',
  ENOMEM: 'this machine has no memory left',
};

/** The code of an error of the system or of Node; empty for other errors. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const fileErrorText = (code: string): string | undefined => fileTexts[code];

export const systemErrorText = (code: string): string | undefined => fileTexts[code] ?? networkErrorText(code);

/** From the code, because the message of an error may quote the request. */
export function connectionErrorText(error: unknown): string {
  const code = errorCode(error);
  return systemErrorText(code) ?? (code === '' ? 'the connection was closed' : `the connection failed (${code})`);
}

/** Keys are primary result codes of SQLite that are not about the query itself: https://www.sqlite.org/rescode.html */
const sqliteTexts: Readonly<Record<number, string>> = {
  5: 'the database is busy with another process',
  8: 'its file or folder is read-only',
  10: 'its disk reports an error',
  11: 'the database is damaged: restore a backup',
  13: 'its disk is full',
  14: 'the database file cannot be opened',
  26: 'the database file is not an SQLite database',
};

/** Primary result code of an error of SQLite; undefined for other errors. */
export const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;

/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5;

/** Reason why SQLite fails regardless of the query; undefined if the query itself was wrong. */
export const sqliteErrorText = (error: unknown): string | undefined => sqliteTexts[sqliteCode(error) ?? 0];
