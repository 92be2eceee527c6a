import { openSqlite } from '../../src/service/storage/sqlite.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';

/** Adds workspaces beside the running service, as `workspace add --no-check` does. */
export async function addWorkspaces(data: string, ids: readonly string[], remote: string): Promise<void> {
  const storage = await openSqlite({ folder: data });
  try {
    await storage.commit('global', async (db) => {
      for (const id of ids) await addWorkspace(db, storage.now, { id, remote });
    });
  } finally {
    await storage.close();
  }
}
