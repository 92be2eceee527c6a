import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from '../../platform/system-errors.ts';
import { CommandError } from '../definition/command.ts';
import { quoted } from '../output/print.ts';
import { folderFailure } from '../storage/open-storage.ts';

/**
 * Prevents a second service on the same folder. An otherwise unused database is locked while the process runs: the
 * system releases the lock however the process ends. Returns a function that releases it earlier.
 */
export function takeInstanceLock(folder: string, whatToDo: string): () => void {
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
    throw new CommandError(`Another service is running on the data folder ${quoted(folder)}. ${whatToDo}`);
  }
}
