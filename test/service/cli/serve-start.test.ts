import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandEnvironment, runMain, startMain } from '../../command/run-main.ts';
import { leaveOut } from '../../support/left-out.ts';
import { listenHere } from '../../support/listen.ts';
import { type CommandResult, runCommand } from '../../support/service-process.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

const parent = folderOfTests();
const folderNamed = (name: string): string => join(parent, name);

/** A service that does not start leaves nothing behind, so it needs no process of its own. */
async function startIn(
  folder: string,
  environment: NodeJS.ProcessEnv = {},
  args: readonly string[] = [],
): Promise<CommandResult> {
  const result = await runMain(['serve', ...args], {
    ...commandEnvironment(folder),
    WORKSPACE_SERVICE_PORT: '0',
    ...environment,
  });
  expect(result.stdout).toBe('');
  return result;
}

const addGame = ['workspace', 'add', 'game', '--no-check', '--remote=https://git.example.com/game.git'];

const refused = (sentence: string): CommandResult => ({
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(new RegExp(`^workspace-service: [^\\n]*${sentence}[^\\n]*\\n$`)),
});

describe('serve reports in one sentence that it', () => {
  test('cannot start without git on the PATH', async () => {
    expect(await startIn(folderNamed('a'), { PATH: folderNamed('nothing') })).toEqual(
      refused('git is not on the PATH'),
    );
  });

  test.each([
    ['is too old', 'echo git version 2.30.2', 'needs git 2\\.39 or newer, but this is git 2\\.30\\.2'],
    ['fails', '[ "$1" = version ] && echo git version 2.50.0 || exit 9', 'git could not look at the sample'],
  ])('cannot start if git %s', async (name, script, sentence) => {
    const bin = folderNamed(`git that ${name}`);
    await mkdir(bin);
    await writeFile(join(bin, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const environment = { PATH: `${bin}:${process.env['PATH']}` };
    const folder = folderNamed(`folder for git that ${name}`);
    expect(await startIn(folder, environment, ['--dev', '--log-level=silent'])).toEqual(refused(sentence));
  });

  test('cannot start on a port that is in use, and creates no token', async () => {
    const { port, close } = await listenHere(createServer());
    try {
      const result = await startIn(folderNamed('c'), {}, ['--dev', '--port', String(port), '--log-level=silent']);
      expect(result).toEqual(refused(`Could not listen on port ${port} of 127\\.0\\.0\\.1: the port is in use`));
      // The service has not created a token that it never showed.
      const { stdout } = await runMain(['token', 'list'], commandEnvironment(folderNamed('c')));
      expect(stdout).toContain('no tokens yet');
    } finally {
      await close();
    }
  });

  test('cannot start at an IP address that this machine does not have', async () => {
    // TEST-NET-1 (RFC 5737), which no machine has.
    const result = await startIn(folderNamed('d'), {}, ['--host', '192.0.2.1']);
    expect(result).toEqual(refused('of 192\\.0\\.2\\.1: it is not an address of this machine'));
  });

  test('cannot start if its data folder is a file', async () => {
    await writeFile(folderNamed('file'), '');
    expect(await startIn(folderNamed('file'))).toEqual(refused('cannot be used: it is a file, not a folder'));
    expect(await startIn(join(folderNamed('file'), 'deeper'))).toEqual(refused('a part of its path is a file'));
  });

  test('cannot start if it may not write to its data folder', async (context) => {
    if (process.getuid?.() === 0) leaveOut(context, 'The superuser may write everywhere.');
    await mkdir(folderNamed('closed'), { mode: 0o500 });
    const reason = 'cannot be used: this user may not read and write it';
    expect(await startIn(folderNamed('closed'))).toEqual(refused(reason));
    expect(await startIn(join(folderNamed('closed'), 'deeper'))).toEqual(refused(reason));
  });

  test.each(['service.db', 'instance.db'])('cannot start if %s is not a database', async (name) => {
    const folder = folderNamed(`bad-${name}`);
    await mkdir(folder);
    await writeFile(join(folder, name), 'This is text, and long enough not to be taken for a new database.'.repeat(50));
    expect(await startIn(folder)).toEqual(refused('the database file is not an SQLite database'));
  });

  test('cannot start on a database of another version, like every other command', async () => {
    const folder = folderNamed('other');
    await runMain(addGame, commandEnvironment(folder));
    const database = new DatabaseSync(join(folder, 'service.db'));
    database.exec('update schema_version set version = 9999');
    database.close();
    const sentence =
      'Another version of the service created the database \\(its schema is 9999, this version needs \\d+\\)';
    expect(await startIn(folder)).toEqual(refused(sentence));
    expect(await runMain(['token', 'list'], commandEnvironment(folder))).toEqual(refused(sentence));
  });

  test.each([
    ['s3cret', 'DATABASE_URL is not the URL of a PostgreSQL database'],
    ['postgres://ada:s3cret@[127/db', 'DATABASE_URL is not a valid URL'],
    ['postgres://ada:%ZZs3cret@127.0.0.1:1/db', 'The database in DATABASE_URL cannot be used'],
    ['postgres://ada:s3cret@127.0.0.1:1/db', 'nothing is listening on its host and port'],
    ['postgres://ada:s3cret@127.0.0.1:1/db?sslcert=/s3cret', 'a file or socket in the URL does not exist'],
  ])('cannot use DATABASE_URL=%s, without repeating it', async (DATABASE_URL, sentence) => {
    const serve = await startIn(folderNamed('e'), { DATABASE_URL });
    expect(serve).toEqual(refused(sentence));
    const list = await runMain(['token', 'list'], { DATABASE_URL });
    expect(list).toEqual(refused(sentence));
    expect(serve.stderr + list.stderr).not.toMatch(/s3cret|ada|127\.0/);
  });
});

test('serve ends if the database refuses a change at its start', async () => {
  const folder = folderNamed('refusing');
  await runMain(addGame, commandEnvironment(folder));
  const database = new DatabaseSync(join(folder, 'service.db'));
  database.exec("create trigger refuse before insert on signing_keys begin select raise(abort, 'not now'); end");
  database.close();
  const { code, stderr } = await runCommand(['serve', '--port=0'], { folder });
  expect(code).toBe(1);
  expect(stderr).toContain('not now');
});

test('lock take retries until a service that is starting listens', async () => {
  const environment = commandEnvironment(folderNamed('late'));
  await runMain(addGame, environment);
  const created = await runMain(['token', 'create', '--name=ada', '--scopes=locks:write'], environment);
  const [WORKSPACE_TOKEN] = created.stdout.split('\n');
  const early = createServer((socket) => socket.destroy());
  const { port, close } = await listenHere(early);
  const attempted = once(early, 'connection');
  const WORKSPACE_BASE_URL = `http://127.0.0.1:${port}/v1`;
  const taking = runMain(['lock', 'take', 'a'], { WORKSPACE_BASE_URL, WORKSPACE_TOKEN, WORKSPACE_ID: 'game' });
  await attempted;
  await close();
  const service = startMain(['serve', '--port', String(port), '--log-level=silent'], environment);
  onTestFinished(async () => void (await service.stop()));
  expect(await taking).toEqual({ code: 0, stdout: expect.stringMatching(/^Locked a until /), stderr: '' });
});

test('serve warns of each unknown variable, and never with its value', async () => {
  const command = startMain(['serve', '--port=0'], {
    ...commandEnvironment(folderNamed('unknown variables')),
    WORKSPACE_SERVICE_RATE: 's3cret-1',
    WORKSPACE_SERVICE_COLOR_OF_THE_DASHBOARD: 's3cret-2',
    WORKSPACE_SERVICE_SCOPES: 'sync',
  });
  await command.printed('listens on ');
  await command.stop();
  const log = command.written().stderr;
  const warnings = log.split('\n').filter((line) => line.includes('"msg":"unknown variable: it has no effect"'));
  expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', variable: 'WORKSPACE_SERVICE_COLOR_OF_THE_DASHBOARD' },
    { variable: 'WORKSPACE_SERVICE_RATE' },
  ]);
  expect(log).not.toContain('s3cret');
});
