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
