import { argv } from 'node:process';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';

/** Run as a process of its own: opens the database in a folder, and counts up as often as it is told, reading first. */
const [, , folder = '', times = '0'] = argv;
const storage = await openSqlite({ folder });
for (let round = 0; round < Number(times); round += 1) {
  await storage.commit('global', async (db) => {
    const { value } = await db.selectFrom('fences').select('value').executeTakeFirstOrThrow();
    await db
      .updateTable('fences')
      .set({ value: value + 1 })
      .execute();
  });
}
await storage.close();
