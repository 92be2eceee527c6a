import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from '../../platform/system-errors.ts';
import type { Storage } from '../../storage/storage.ts';
import { CommandError } from '../definition/command.ts';
import { quoted } from '../output/print.ts';
import {
  databaseUrl,
  folderFailure,
  openStorage,
  prepareDataFolder,
  type StorageEvents,
} from '../storage/open-storage.ts';

interface OwnDatabase extends StorageEvents {
  readonly data: string;
  readonly environment: NodeJS.ProcessEnv;
  /** What to do if a service runs on the folder. */
  readonly advice: string;
}

/** Prepares the folder of SQLite, and keeps other services off it during the work. */
export async function withOwnDatabase<T>(
  { data, environment, advice, ...events }: OwnDatabase,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const usesPostgres = databaseUrl(environment) !== null;
  if (!usesPostgres) prepareDataFolder(data);
  const release = usesPostgres ? () => undefined : takeInstanceLock(data, advice);
  try {
    const storage = await openStorage(data, environment, events);
    return await work(storage).finally(storage.close);
  } finally {
    release();
  }
}

/**
 * Prevents a second service on the same folder. An otherwise unused database is locked while the process runs: the
 * system releases the lock however the process ends. Returns a function that releases it earlier.
 */
function takeInstanceLock(folder: string, advice: string): () => void {
  const file = join(folder, 'instance.db');
  const lock = new DatabaseSync(file, { timeout: 0, open: false });
  try {
    lock.open();
    chmodSync(file, 0o600);
    lock.exec('begin exclusive');
    return () => lock.close();
  } catch (error) {
    if (lock.isOpen) lock.close();
    if (!isBusy(error)) throw folderFailure(folder, error);
    throw new CommandError(`Another service is running on the data folder ${quoted(folder)}. ${advice}`);
  }
}
