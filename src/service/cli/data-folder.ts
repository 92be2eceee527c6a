import { accessSync, constants } from 'node:fs';
import { makeFolder } from '../storage/make-folder.ts';
import { NewerSchemaError } from '../storage/migrations.ts';
import { systemErrorText } from '../system-errors.ts';
import { Failure } from './failure.ts';
import { quoted } from './output/safe-text.ts';

/** By the primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const databaseTrouble: Readonly<Record<number, string>> = {
  5: 'its database is busy with another process',
  8: 'this user may not write its database',
  10: 'its disk reports an error',
  11: 'its database is damaged: restore a backup',
  13: 'its disk is full',
  14: 'its database file cannot be opened',
  26: 'the file of its database is something else',
};

function troubleOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return databaseTrouble[error.errcode & 0xff];
  return 'code' in error && typeof error.code === 'string' ? systemErrorText(error.code) : undefined;
}

/** What to tell when the folder, or the database in it, cannot be used. */
export function folderFailure(folder: string, error: unknown): unknown {
  const trouble = troubleOf(error);
  if (trouble !== undefined) {
    return new Failure(
      `The data folder ${quoted(folder)} cannot be used: ${trouble}. Put that right, or name another with --data.`,
    );
  }
  return error instanceof NewerSchemaError ? new Failure(error.message) : error;
}

/** Makes the folder where there is none, for this user alone. */
export function prepareDataFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw folderFailure(folder, error);
  }
}
