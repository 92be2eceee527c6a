import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { readSnapshot } from '../../../src/service/backup/write.ts';
import { databaseFile, openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { findRows } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const run = promisify(execFile);

async function openIn(folder = temporaryFolder()): Promise<Storage> {
  const storage = await openSqlite({ folder });
  onTestFinished(storage.close);
  return storage;
}

test('every commit is flushed to disk: the journal is a WAL, and synchronous is full', async () => {
  const storage = await openIn();
  const settings = await storage.commit('global', async (db) => ({
    journal: (await sql<{ journal_mode: string }>`pragma journal_mode`.execute(db)).rows[0]?.journal_mode,
    synchronous: (await sql<{ synchronous: number }>`pragma synchronous`.execute(db)).rows[0]?.synchronous,
  }));
  // 2 is FULL: https://www.sqlite.org/pragma.html#pragma_synchronous
  expect(settings).toEqual({ journal: 'wal', synchronous: 2 });
});

test('several processes can open a new database at once without losing writes', async () => {
  const data = temporaryFolder();
  const counting = `
    const { openSqlite } = await import('${new URL('../../../src/service/storage/sqlite.ts', import.meta.url).href}');
    const storage = await openSqlite({ folder: ${JSON.stringify(data)} });
    for (let round = 0; round < 25; round += 1) {
      await storage.commit('global', async (db) => {
        const { value } = await db.selectFrom('fences').select('value').executeTakeFirstOrThrow();
        await db.updateTable('fences').set({ value: value + 1 }).execute();
      });
    }
    await storage.close();`;
  const script = ['--input-type=module', '--eval', counting];
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, script)));
  expect(await findRows(await openIn(data), 'fences')).toMatchObject([{ value: 100 }]);
});

test.skipIf(process.platform === 'win32')('other users cannot read the database file', async () => {
  const data = temporaryFolder();
  await openIn(data);
  expect(statSync(databaseFile(data)).mode & 0o077).toBe(0);
});

test('the write-ahead log shrinks again after a long read', async () => {
  const data = temporaryFolder();
  const storage = await openIn(data);
  const megabyte = { at: 0, actor: 'a', action: 'b', detail: 'x'.repeat(1_000_000) };
  const write = () => storage.commit('global', (db) => db.insertInto('audit').values(megabyte).execute());
  const logSize = () => statSync(`${databaseFile(data)}-wal`).size;
  const limit = 16 * 1_024 * 1_024;
  await readSnapshot(storage, async (db) => {
    await db.selectFrom('audit').select('actor').execute();
    while (logSize() <= limit) await write();
  });
  // A change copies the log into the database, and the next one starts the log again.
  await expect.poll(() => write().then(logSize)).toBeLessThanOrEqual(limit);
});
