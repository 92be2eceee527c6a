import { accessSync, constants } from 'node:fs';
import { makeFolder } from '../storage/make-folder.ts';
import { NewerSchemaError } from '../storage/migrations.ts';
import { sqliteReason, systemReason } from '../system-errors.ts';
import { Failure } from './failure.ts';
import { quoted } from './output/safe-text.ts';

function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return sqliteReason(error) ?? systemReason(code);
}

/** What to tell when the folder, or the database in it, cannot be used. */
export function folderFailure(folder: string, error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason !== undefined) {
    return new Failure(
      `The data folder ${quoted(folder)} cannot be used: ${reason}. Put that right, or name another with --data.`,
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
