import { openPostgres } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { lockPath } from './load.ts';

/** The workspace that `serve --dev` adds by itself where there is none of its name. */
const workspace = 'sample';
const rowsAtOnce = 1_000;
const dayMs = 86_400_000;

/** Puts so many locks into a database that no service uses yet: to take each of them would take minutes. */
export async function seedLocks(
  { data, databaseUrl }: { readonly data: string; readonly databaseUrl: string | undefined },
  number: number,
): Promise<void> {
  const storage =
    databaseUrl === undefined
      ? await openSqlite({ folder: data })
      : await openPostgres({ url: databaseUrl, onIdleError: () => undefined });
  const now = Date.now();
  try {
    await storage.commit('global', async (db) => {
      await addWorkspace(db, storage.now, { id: workspace, remote: 'https://git.example.com/game.git' });
      for (let first = 0; first < number; first += rowsAtOnce) {
        const rows = Array.from({ length: Math.min(rowsAtOnce, number - first) }, (_, index) => ({
          workspace_id: workspace,
          path: lockPath('seeded', first + index),
          id: `lock_${String(first + index).padStart(36, '0')}`,
          type: 'exclusive',
          token_id: 'tok_seeded',
          owner: 'release',
          origin: 'https://github.com/studio/game/actions/runs/1234567890/attempts/1',
          acquired_at: now,
          expires_at: now + dayMs,
          fence: first + index + 1,
        }));
        await db.insertInto('locks').values(rows).execute();
      }
    });
  } finally {
    await storage.close();
  }
}
