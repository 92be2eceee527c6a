import { readdirSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withFileErrors } from '../../../src/service/cli/open-storage.ts';
import { besideService } from '../../command/in-service.ts';
import { commandEnvironment, runMain, startMain } from '../../command/run-main.ts';
import { createPostgresDatabase, postgresServer } from '../../support/databases.ts';
import { leaveOut } from '../../support/left-out.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { lockedPathsIn } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { folder, run, lock, ask } = besideService();

/** Runs a command on another folder. */
const runOn = (data: string, ...args: readonly string[]) => runMain(args, commandEnvironment(data));

async function newBackup(): Promise<string> {
  const file = join(temporaryFolder(), 'a backup');
  expect((await run('backup', file)).code).toBe(0);
  return file;
}

test('backup of a running service is readable only by its user, and reports its contents', async () => {
  const file = join(temporaryFolder(), 'a backup');
  const { code, stdout, stderr } = await run('backup', file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Wrote the database as of \d{4}-\d\d-\d\d \d\d:\d\d UTC to ".*a backup": \d+ rows, with schema \d+\.\n/,
  );
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('restore keeps locks until they expire, and tokens, but no sessions', async () => {
  await lock('Content/Hero.uasset', '2h');
  const file = await newBackup();
  const data = join(temporaryFolder(), 'restored');
  const { code, stdout, stderr } = await runOn(data, 'restore', file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Restored the backup of \d{4}-\d\d-\d\d \d\d:\d\d UTC: \d+ rows, with schema \d+\.\n/);
  expect(stdout).toMatch(/^Fences raised by \d{7,}\. All sessions of the dashboard, and links to it, have ended\.$/m);
  expect(stdout).toMatch(/^Locks restored until they expire: 1\./m);
  expect(await lockedPathsIn(data)).toEqual(['Content/Hero.uasset']);
  const { stdout: entries } = await runOn(data, 'audit', '--json', '--limit=1');
  expect(JSON.parse(entries).entries).toMatchObject([{ action: 'backup.restored', token_id: null }]);

  const again = await runOn(data, 'restore', file, '--replace', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    taken_at: expect.any(String),
    rows: { workspaces: 1, locks: 1 },
    active_locks: 1,
  });
});

test('restore refuses a database that a service is using', async () => {
  const { code, stdout, stderr } = await run('restore', await newBackup(), '--replace');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`Another service is running on the data folder "${folder}".`);
  expect((await ask('GET', '/workspaces')).body.workspaces).toHaveLength(1);
});

test('backup does not overwrite a file, and restore needs an existing one', async () => {
  const parent = temporaryFolder();
  const file = join(parent, 'x');
  await writeFile(file, 'kept');
  const cases = [
    [['backup', file], 'already exists. Choose another name, or remove it.'],
    [['backup', join(parent, 'none', 'x')], 'its folder does not exist.'],
    [['restore', join(parent, 'none'), `--data=${join(parent, 'data')}`], 'it does not exist.'],
    [['restore', parent, `--data=${join(parent, 'data')}`], 'it is a folder.'],
  ] as const;
  for (const [args, reason] of cases) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(reason) });
  }
  expect(await readFile(file, 'utf8')).toBe('kept');
});

test('a lost connection to the database is not reported as an error of the file', async () => {
  const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  await expect(withFileErrors('a backup', Promise.reject(lost))).rejects.toBe(lost);
});

test('restore refuses a PostgreSQL database that an instance is using (needs TEST_DATABASE_URL)', async (context) => {
  if (postgresServer === undefined) return leaveOut(context, 'It is part of `npm run test:postgres`.');
  const { url, remove } = await createPostgresDatabase(postgresServer);
  const data = temporaryFolder();
  const onPostgres = (...args: readonly string[]) => runMain(args, { ...commandEnvironment(data), DATABASE_URL: url });
  try {
    const file = await newBackup();
    const service = await startServiceProcess({ folder: data, environment: { DATABASE_URL: url } });
    const refused = await onPostgres('restore', file, '--replace');
    await service.stop();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toBe(
      'workspace-service: A service, or another command, is using the database that DATABASE_URL names. Stop all instances, then restore again.\n',
    );
    expect(await onPostgres('restore', file, '--replace')).toMatchObject({ code: 0, stderr: '' });
  } finally {
    await remove();
  }
});

test('an interrupted backup leaves no file', async () => {
  const parent = temporaryFolder();
  const running = startMain(['backup', join(parent, 'a')], commandEnvironment(folder));
  while (readdirSync(parent).length === 0) await setImmediate();
  expect(await running.stop('SIGTERM')).toBe(143);
  expect(running.written().stderr).toContain('Interrupted. Nothing was written.');
  expect(await readdir(parent)).toEqual([]);
});
