/** By the codes of system calls (errno(3)). */
const systemReasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk of the service is full',
  EDQUOT: 'the disk quota of the service is used up',
  EROFS: 'the disk of the service is read-only',
  EIO: 'the disk of the service reports an error',
  EACCES: 'the user that runs the service may not read and write there',
  EPERM: 'the user that runs the service may not read and write there',
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its path has too many symbolic links',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'the service has too many files open',
  ENFILE: 'the machine of the service has too many files open',
  EAGAIN: 'the machine of the service has too many processes',
  ENOMEM: 'the machine of the service has no memory left',
};

/** By the primary result codes of SQLite (https://www.sqlite.org/rescode.html) that say nothing about the query itself. */
const sqliteReasons: Readonly<Record<number, string>> = {
  5: 'the database is busy with another process',
  8: 'its file or folder is read-only',
  10: 'its disk reports an error',
  11: 'the database is damaged: restore a backup',
  13: 'its disk is full',
  14: 'the database file cannot be opened',
  26: 'the database file is not an SQLite database',
};

/** Why a system call failed, to complete a sentence. */
export const systemReason = (code: string): string | undefined => systemReasons[code];

/** Why SQLite cannot work, whatever it was asked, to complete a sentence; undefined when the query itself was wrong. */
export const sqliteReason = (error: Error): string | undefined =>
  'errcode' in error && typeof error.errcode === 'number' ? sqliteReasons[error.errcode & 0xff] : undefined;
