import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/service/storage/migrations.ts';
import { databaseFile, openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';
import { temporaryDataFolder } from '../../support/databases.ts';

test('a database of the first version keeps what it has, and gets what is new', async () => {
  const { folder, remove } = await temporaryDataFolder();
  onTestFinished(remove);
  const file = new DatabaseSync(databaseFile(folder));
  const first = new Kysely<Tables>({ dialect: new SqliteDialect({ database: plain(file) }) });
  await migrate(first, 'sqlite', 1);
  for (const statement of [
    `insert into tokens (id, name, hash, scopes, created_at) values ('tok_1', 'ada', 'h', '["sync"]', 1)`,
    `insert into workspaces values ('game', 'https://git.example.com/game.git', 1)`,
    `insert into hooks values ('hook_1', 'game', 'https://ci.example.com', '[]', null, 'standard', 's', '{}', 0, 1, 1)`,
    `insert into audit (at, actor, action, detail) values (1, 'ada', 'lock.force-released', '{}')`,
  ]) {
    await sql.raw(statement).execute(first);
  }
  await first.destroy();

  const storage = await openSqlite({ folder });
  onTestFinished(storage.close);
  expect(await storage.read.selectFrom('tokens').selectAll().execute()).toMatchObject([
    { id: 'tok_1', name: 'ada', last_used_at: null },
  ]);
  // Only a receiver could put a hook to sleep then.
  expect(await storage.read.selectFrom('hooks').selectAll().execute()).toMatchObject([
    { id: 'hook_1', active: 0, inactive_why: 'gone', resumed_at: null },
  ]);
  expect(await storage.read.selectFrom('audit').selectAll().execute()).toMatchObject([
    { actor: 'ada', token_id: null, address: null },
  ]);
  await expect(storage.commit('global', (db) => db.deleteFrom('audit').execute())).rejects.toThrow(
    'The audit only grows.',
  );
});

/** What Kysely asks of a driver, without more. */
const plain = (file: DatabaseSync) => ({
  prepare(text: string) {
    const statement = file.prepare(text);
    return {
      reader: statement.columns().length > 0,
      all: () => statement.all(),
      run: () => statement.run(),
      iterate: () => statement.iterate(),
    };
  },
  close: () => file.close(),
});
