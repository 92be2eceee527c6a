import { expect, test } from 'vitest';
import { schemaVersion } from '../../../src/service/storage/migrate.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import { commandEnvironment, runMain, startMain } from '../../command/run-main.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { appendMigration } from '../storage/append-migration.ts';

/** Returns the log of a service from its start to its end. */
async function startAndStop(folder: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const settings = { ...commandEnvironment(folder), WORKSPACE_SERVICE_PORT: '0', ...environment };
  const command = startMain(['serve'], settings);
  await command.printed('listens on ');
  await command.stop();
  return command.written().stderr;
}

const lines = (log: string, msg: string) =>
  log
    .split('\n')
    .filter((line) => line.includes(`"msg":"${msg}"`))
    .map((line) => JSON.parse(line));

test('serve warns of each unknown variable, and never with its value', async () => {
  const log = await startAndStop(temporaryFolder(), {
    WORKSPACE_SERVICE_RATE: 's3cret-1',
    WORKSPACE_SERVICE_COLOR_OF_THE_DASHBOARD: 's3cret-2',
    WORKSPACE_SERVICE_SCOPES: 'sync',
  });
  const warnings = lines(log, 'unknown variable: it has no effect');
  expect(warnings).toMatchObject([
    { level: 'warn', variable: 'WORKSPACE_SERVICE_COLOR_OF_THE_DASHBOARD' },
    { variable: 'WORKSPACE_SERVICE_RATE' },
  ]);
  expect(log).not.toContain('s3cret');
});

async function olderDatabase() {
  const folder = temporaryFolder();
  await (await openSqlite({ folder })).close();
  const from = schemaVersion();
  appendMigration('create table moods (name text)');
  return { folder, from, to: schemaVersion() };
}

test('serve logs the migration of an older database once, with a link to the downgrade instructions', async () => {
  const { folder, from, to } = await olderDatabase();
  const migration = { level: 'info', from, to, duration_ms: expect.any(Number) };
  const to_go_back = expect.stringContaining('docs/self-hosting.md#upgrade-and-downgrade');
  expect(lines(await startAndStop(folder), 'migrated the database')).toMatchObject([{ ...migration, to_go_back }]);
  const next = await startAndStop(folder);
  expect(lines(next, 'migrated the database')).toEqual([]);
  expect(lines(next, 'listening')).toMatchObject([{ schema: to }]);
});

test('a command reports that it migrated the database, but not that it created one', async () => {
  const { folder, from, to } = await olderDatabase();
  const { code, stderr } = await runMain(['token', 'list'], commandEnvironment(folder));
  expect(code).toBe(0);
  expect(stderr).toMatch(new RegExp(`^Migrated the database from schema ${from} to ${to} in \\d+ ms\\. .+\\n$`));
  const add = ['workspace', 'add', 'game', '--no-check', '--remote=https://git.example.com/game.git'];
  const created = await runMain(add, commandEnvironment(temporaryFolder()));
  expect(created).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Created a database .*\n$/) });
});
