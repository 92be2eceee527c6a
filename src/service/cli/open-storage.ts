import { accessSync, chmodSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CommandError } from '../../command/command.ts';
import { quoted } from '../../command/print.ts';
import { errorCode, fileErrorText, systemErrorText } from '../../interface/system-errors.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { OtherSchemaError } from '../storage/schema.ts';
import { databaseFile, openSqlite } from '../storage/sqlite.ts';
import type { Storage } from '../storage/storage.ts';
import { isBusy, sqliteErrorText } from '../storage/unavailable.ts';

interface DatabaseOptions {
  readonly data: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly onIdleError?: (error: Error) => void;
}

export async function withDatabase<T>(options: DatabaseOptions, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(options);
  return work(storage).finally(storage.close);
}

async function openStorage({ data, environment, ...events }: DatabaseOptions): Promise<Storage> {
  const url = databaseUrl(environment);
  try {
    if (url === null) return await openSqlite({ folder: data, ...events });
    // Loaded on demand, because importing the PostgreSQL driver takes time.
    const { openPostgres } = await import('../storage/postgres.ts');
    return await openPostgres({ url, onIdleError: () => undefined, ...events });
  } catch (error) {
    if (url === null || error instanceof OtherSchemaError) throw folderFailure(data, error);
    throw new CommandError(`The database in DATABASE_URL cannot be used: ${databaseFailure(error)}.`);
  }
}

/**
 * Keeps other services off the data folder during `work`, and creates a missing folder. The error names `advice` if one
 * runs. Locks a database that has no other use, because the system releases the lock however the process ends.
 */
export async function withOwnFolder<T>(data: string, advice: string, work: () => Promise<T>): Promise<T> {
  const file = join(data, 'instance.db');
  const lock = new DatabaseSync(file, { timeout: 0, open: false });
  try {
    makeFolder(data);
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
    lock.open();
    chmodSync(file, 0o600);
    lock.exec('begin exclusive');
  } catch (error) {
    if (lock.isOpen) lock.close();
    if (!isBusy(error)) throw folderFailure(data, error);
    throw new CommandError(`Another service is running on the data folder ${quoted(data)}. ${advice}`);
  }
  return work().finally(() => lock.close());
}

export const databaseExists = (data: string, environment: NodeJS.ProcessEnv): boolean =>
  databaseUrl(environment) !== null || existsSync(databaseFile(data));

function folderFailure(folder: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof OtherSchemaError) return new CommandError(error.message);
  const code = errorCode(error);
  const reason = sqliteErrorText(error) ?? (code === 'ENOENT' ? 'it cannot be created there' : systemErrorText(code));
  if (reason === undefined) return error;
  return new CommandError(
    `The data folder ${quoted(folder)} cannot be used: ${reason}. Fix that, or choose another folder with --data.`,
  );
}

/** Explains errors of the file. Other errors, such as those of the database, are not changed. */
export const withFileErrors = <T>(file: string, work: Promise<T>, texts: Readonly<Record<string, string>> = {}) =>
  work.catch((error: unknown) => {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const code = errorCode(error);
    const reason = texts[code] ?? fileErrors[code] ?? fileErrorText(code);
    throw reason === undefined ? error : new CommandError(`The file ${quoted(file)} cannot be used: ${reason}.`);
  });

const fileErrors: Readonly<Record<string, string>> = { ENOENT: 'it does not exist', EISDIR: 'it is a folder' };

const urlForm = 'It must be postgres://user:password@host:port/database.';

/** Null for SQLite. The URL contains a password, so no message quotes any part of it. */
export function databaseUrl(environment: NodeJS.ProcessEnv): string | null {
  const url = environment['DATABASE_URL'] ?? '';
  if (url === '') return null;
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new CommandError(`DATABASE_URL is not the URL of a PostgreSQL database. ${urlForm}`);
  return url;
}

/** Keys are PostgreSQL codes (SQLSTATE, appendix A of its manual) and Node codes. */
const databaseErrors: Readonly<Record<string, string>> = {
  ERR_INVALID_URL: `DATABASE_URL is not a valid URL. ${urlForm} Percent-encode special characters in it`,
  ENOENT: 'a file or socket in the URL does not exist',
  '28P01': 'it rejects the user or the password',
  '3D000': 'the database does not exist',
  '57P03': 'it is starting or stopping',
};

function databaseFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const code = errorCode(error);
  if (code !== '') return databaseErrors[code] ?? systemErrorText(code) ?? `it failed (${code})`;
  // The driver's own errors have no code, and their messages quote settings, so they are not shown.
  if (/timeout|terminated/i.test(error.message)) return 'it did not respond in time';
  if (/\bSSL\b/.test(error.message)) return 'it does not support TLS as the URL requires';
  return 'the driver rejected the URL, or the server rejected the connection';
}
