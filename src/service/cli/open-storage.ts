import { accessSync, constants, existsSync } from 'node:fs';
import { sqliteErrorText, systemErrorText } from '../platform/system-errors.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { NewerSchemaError } from '../storage/migrations.ts';
import { databaseFile, openSqlite } from '../storage/sqlite.ts';
import type { Storage } from '../storage/storage.ts';
import { databaseUrl, postgresFailure } from './database-url.ts';
import { Failure } from './failure.ts';
import { quoted } from './output/print.ts';

function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return sqliteErrorText(error) ?? systemErrorText(code);
}

/** What to tell when the folder, or the database in it, cannot be used. */
export function folderFailure(folder: string, error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason !== undefined) {
    return new Failure(
      `The data folder ${quoted(folder)} cannot be used: ${reason}. Fix that, or choose another folder with --data.`,
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

/** Where the service keeps what it stores. */
export interface StorageLocation {
  readonly data: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface StorageEvents {
  readonly onCommit?: (changes: number) => void;
  readonly onIdleError?: (error: Error) => void;
}

async function openDatabase(url: string, { onCommit, onIdleError = () => {} }: StorageEvents): Promise<Storage> {
  // Only who uses PostgreSQL has to wait for its driver to be read.
  const { openPostgres } = await import('../storage/postgres.ts');
  try {
    return await openPostgres({ url, onIdleError, ...(onCommit && { onCommit }) });
  } catch (error) {
    throw postgresFailure(error);
  }
}

/** The database of the service, brought to the schema of this version. */
export async function openStorage(
  { data, environment }: StorageLocation,
  events: StorageEvents = {},
): Promise<Storage> {
  const url = databaseUrl(environment);
  if (url !== null) return openDatabase(url, events);
  try {
    return await openSqlite({ folder: data, ...(events.onCommit && { onCommit: events.onCommit }) });
  } catch (error) {
    throw folderFailure(data, error);
  }
}

/** `there`: the database has to exist, so that a mistyped folder is not taken for an empty service. */
export type Needs = 'there' | 'there or new';

export async function withStorage<T>(
  location: StorageLocation,
  needs: Needs,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  if (needs === 'there' && databaseUrl(location.environment) === null && !existsSync(databaseFile(location.data))) {
    throw new Failure(
      `No service has stored anything in the folder ${quoted(location.data)} yet. Name the folder of the service with --data, or start one there with "workspace-service serve".`,
    );
  }
  const storage = await openStorage(location);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
