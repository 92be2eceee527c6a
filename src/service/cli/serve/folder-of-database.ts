import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../platform/system-errors.ts';
import { databaseKey } from '../../storage/database-key.ts';
import type { Storage } from '../../storage/storage.ts';
import { CommandError } from '../definition/command.ts';
import { quoted } from '../output/print.ts';

/** The start removes the mirrors of unknown workspaces, so the folder remembers the database that it belongs to. */
export async function requireFolderOfDatabase(storage: Storage, folder: string): Promise<void> {
  const id = await databaseKey(storage, 'database-id');
  const file = join(folder, 'database-id');
  const known = await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    return undefined;
  });
  if (known === undefined) await writeFile(file, id, { mode: 0o600 });
  else if (known !== id) {
    throw new CommandError(
      `The mirrors in ${quoted(folder)} belong to another database. Correct DATABASE_URL or --data. To keep this database with this folder, remove ${quoted(file)}: the service then removes the mirrors of all workspaces that the database does not have.`,
    );
  }
}
