import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { checkPaths } from '../../src/cli/check.ts';
import type { RemoteService } from '../../src/cli/connect.ts';
import { releaseRemoteLocks } from '../../src/cli/release.ts';
import { takeLocks } from '../../src/cli/take.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { ServiceError } from '../../src/client/service-error.ts';
import { steadyClock } from '../../src/client/time.ts';
import { parseTtl } from '../../src/interface/duration.ts';
import { readAudit } from '../../src/service/audit/audit.ts';
import { lockPath, workspaceId } from '../client/test-client.ts';
import { runMain } from '../command/run-main.ts';
import { readPage, snippetWith } from '../docs/pages.ts';
import { openBareService } from '../e2e/bare-service.ts';
import { onlyInterface, refused, timedOut } from '../locks/samples.ts';
import { sharedService } from '../service/http/shared-service.ts';
import { json, problem } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { compileCache, runCommand, startCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { valueIn } from '../support/value-in.ts';

const bin = fileURLToPath(new URL('../../build/workspace-service.mjs', import.meta.url));

const service = sharedService();
let workspace: string;
const secrets = { ada: '', bob: '', admin: '' };

beforeAll(async () => {
  secrets.ada = (await service.token({ name: 'laptop', owner: 'ada', scopes: ['locks:write'] })).secret;
  secrets.bob = (await service.token({ name: 'bob', scopes: ['locks:write'] })).secret;
  secrets.admin = (await service.token({ name: 'root', scopes: ['locks:admin'] })).secret;
});

beforeEach(async () => {
  workspace = await service.workspace();
});

type Person = keyof typeof secrets;

/** The variables that a user sets in a shell. */
const environmentOf = (person: Person) => ({
  WORKSPACE_BASE_URL: `${service.baseUrl}/v1`,
  WORKSPACE_TOKEN: secrets[person],
  WORKSPACE_ID: workspace,
});

/** The service, with some responses changed on their way. */
function remoteOf(person: Person, change: (client: Client) => Partial<Client>): RemoteService {
  const client = createClient({
    baseUrl: `${service.baseUrl}/v1`,
    credentials: { kind: 'static', token: secrets[person] },
    userAgent: 'test',
  });
  onTestFinished(() => client.dispose());
  return {
    client: { ...client, ...change(client) },
    service: `${service.baseUrl}/v1`,
    workspace: workspaceId(workspace),
    interrupted: new AbortController().signal,
    within: () => ({ deadline: steadyClock() + 30_000 }),
    report: () => undefined,
  };
}

/** Runs the real command in a process of its own. */
const lock = (person: Person, ...args: readonly string[]) =>
  runCommand(['lock', ...args], { environment: environmentOf(person) });

/** Runs the same command in this process, for tests that need no process. */
const lockHere = (person: Person, ...args: readonly string[]) => runMain(['lock', ...args], environmentOf(person));

const held = async (): Promise<readonly string[]> =>
  (await service.ask('GET', `/v1/workspaces/${workspace}/locks`, { token: service.secret })).body.locks.map(
    ({ path, owner }: { path: string; owner: string }) => `${path} ${owner}`,
  );

function writeIn(folder: string, name: string, content: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

/** A checkout with these files in its index. */
function checkoutWith(...files: readonly string[]): string {
  const cwd = temporaryFolder();
  for (const file of files) writeIn(cwd, file, '');
  execFileSync('git', ['init', '--quiet', '--initial-branch=main'], { cwd });
  execFileSync('git', ['add', '--all'], { cwd });
  return cwd;
}

describe('lock, over HTTP', () => {
  test('takes, lists, checks and releases with only three variables, and never prints the token', async () => {
    const taken = await lock('ada', 'take', '.\\Content\\Hero.uasset', '--ttl', '2h', '--note', 'New armour');
    expect(taken).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Locked Content\/Hero\.uasset until /),
      stderr: '',
    });
    const listed = await lockHere('bob', 'list');
    expect(listed.stdout).toMatch(
      /^PATH +OWNER +SINCE +EXPIRES +ORIGIN +NOTE\nContent\/Hero\.uasset +ada .* in 2 h .* New armour\n$/,
    );
    const yours = await lock('ada', 'check', 'Content/Hero.uasset');
    expect(yours).toMatchObject({ code: 0, stdout: expect.stringContaining('is held by you (ada) until ') });
    const released = await lockHere('ada', 'release', 'Content/Hero.uasset');
    expect(released).toEqual({ code: 0, stdout: 'Released Content/Hero.uasset.\n', stderr: '' });
    expect(await held()).toEqual([]);
    for (const { stdout, stderr } of [taken, listed, yours, released]) expect(stdout + stderr).not.toContain('wsa_');
  });

  const queue = async (path: string): Promise<readonly object[]> =>
    (await service.ask('GET', `/v1/workspaces/${workspace}/queue?path=${path}`, { token: service.secret })).body.queue;

  test('asks for a lock that someone else holds', async () => {
    expect((await lockHere('bob', 'ask', 'Maps/a')).stderr).toContain('Maps/a is free, and not kept for anyone else');
    await lockHere('ada', 'take', 'Maps/a', 'b');
    await lockHere('bob', 'ask', 'Maps/a');
    expect(await lock('bob', 'ask', 'Maps/a', '--note', 'Lights')).toMatchObject({
      stdout: 'You are number 1 in line for Maps/a. When it becomes free, it is kept for you for 10 min.\n',
      code: 0,
    });
    const asked = JSON.parse((await lockHere('admin', 'ask', 'b', '--json')).stdout);
    expect(asked).toMatchObject({ path: 'b', position: 1, owner: 'root', note: null });
    expect(await queue('Maps/a')).toMatchObject([{ path: 'Maps/a', owner: 'bob', note: 'Lights' }]);
    expect(await queue('b')).toEqual([asked]);
    await lockHere('ada', 'release', 'Maps/a');
    await expect
      .poll(() => queue('Maps/a'), { timeout: 10_000 })
      .toContainEqual(expect.objectContaining({ path: 'Maps/a', kept_until: expect.any(String) }));
    expect((await lockHere('ada', 'take', 'Maps/a')).code).toBe(1);
    expect((await lockHere('bob', 'take', 'Maps/a')).code).toBe(0);
    expect(await held()).toEqual(['Maps/a bob', 'b ada']);
  });

  test('says that it already holds a lock, and extends it', async () => {
    await lockHere('ada', 'take', 'a', '--ttl', '2h');
    expect((await lockHere('ada', 'extend', 'a', '--ttl', '2h')).code).toBe(0);
    await lockHere('bob', 'take', 'c');
    expect(await lockHere('ada', 'take', 'a', 'b', '--ttl', '3h', '--wait', '10m')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /You already hold the lock on a, until .*: workspace-service lock extend a --ttl DURATION\. Nothing was locked\./,
      ),
    });
    expect(await held()).toEqual(['a ada', 'c bob']);
    const { expires_at } = JSON.parse((await lockHere('ada', 'extend', 'a', '--ttl', '3h', '--json')).stdout);
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 2.5 * 3_600_000);
    const later = 'With this --ttl it would end earlier, so it was not changed.';
    for (const [path, text] of [
      ['a', new RegExp(`^.*a is held by you \\(ada\\) until .*\\. ${later}\\n$`)],
      ['c', /c is held by bob/],
      ['d', /d is free\./],
    ] as const) {
      const { code, stderr } = await lockHere('ada', 'extend', path, '--ttl', '1h');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(text) });
    }
    expect(JSON.parse((await lockHere('ada', 'list', '--json')).stdout).locks[0]).toMatchObject({ expires_at });
  });

  test.skipIf(process.platform === 'win32')(
    'looks hundreds of paths up in the checkout with few processes',
    async () => {
      const paths = Array.from({ length: 300 }, (_, index) => `Content/${index}.uasset`);
      const cwd = checkoutWith(...paths, 'Content/Hero.uasset');
      const programs = temporaryFolder();
      const log = join(programs, 'log');
      const PATH = process.env['PATH'] ?? '';
      const script = `#!/bin/sh\necho "$@" >> '${log}'\nPATH='${PATH}' exec git "$@"\n`;
      writeFileSync(join(programs, 'git'), script, { mode: 0o755 });
      const environment = { ...environmentOf('ada'), PATH: `${programs}:${PATH}` };
      const args = ['lock', 'take', ...paths, 'Content', 'Content/Her.uasset', 'Content/300.uasset'];
      const { code, stderr } = await runCommand(args, { environment, cwd });
      expect({ code, stderr: stderr.split('\n') }).toEqual({
        code: 0,
        stderr: [
          'Content is a folder. A lock on it covers none of its files: name the files.',
          'Content/Her.uasset is not in this checkout. Did you mean Content/Hero.uasset?',
          '',
        ],
      });
      expect(readFileSync(log, 'utf8').trim().split('\n').length).toBeLessThan(5);
    },
  );

  test('escapes paths, so that they cannot control the terminal', async () => {
    const path = 'Content/\u00adgnp.exe';
    expect((await lockHere('ada', 'take', path)).stdout).not.toContain('\u00ad');
    const { stdout } = await lockHere('ada', 'list');
    expect(stdout).not.toContain('\u00ad');
    expect(stdout).toContain('Content/\\u{ad}gnp.exe');
    const json = (await lockHere('ada', 'list', '--json')).stdout;
    expect(json).not.toContain('\u00ad');
    expect(JSON.parse(json).locks[0].path).toBe(path);
    expect((await lockHere('ada', 'release', 'Content/\u00adother.exe')).stderr).not.toContain('\u00ad');
  });

  test('does not force a release because of a variable', async () => {
    await lockHere('bob', 'take', 'a');
    const environment = { ...environmentOf('admin'), WORKSPACE_SERVICE_FORCE: 'true' };
    const refused = await runMain(['lock', 'release', 'a'], environment);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('a is held by bob') });
    expect(await held()).toEqual(['a bob']);
  });

  test('prints the response of the service as one JSON document', async () => {
    const taken = JSON.parse((await lockHere('ada', 'take', 'a', 'b', '--json')).stdout);
    expect(taken.locks).toMatchObject([
      { path: 'a', owner: 'ada', fence: expect.any(Number) },
      { path: 'b', owner: 'ada' },
    ]);
    await lockHere('bob', 'take', 'Maps/c');
    expect(JSON.parse((await lockHere('bob', 'list', '--json')).stdout).locks).toMatchObject([
      { path: 'Maps/c', owner: 'bob' },
      ...taken.locks,
    ]);
    const checked = await lockHere('ada', 'check', 'a', 'Maps/c', 'd', '--json');
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout).paths).toMatchObject([
      { path: 'a', status: 'yours', lock: { owner: 'ada' } },
      { path: 'Maps/c', status: 'theirs', lock: { owner: 'bob' } },
      { path: 'd', status: 'free', lock: null },
    ]);
    expect(JSON.parse((await lockHere('ada', 'release', 'b', 'a', '--json')).stdout)).toEqual({ released: ['b', 'a'] });
  });

  test('takes all paths or none, and names the holder of a locked path', async () => {
    await lockHere('bob', 'take', 'Content/B.uasset', '--note', 'Repaint');
    const { code, stdout, stderr } = await lockHere('ada', 'take', 'Content/C', 'Content/A', 'Content/B.uasset');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /Content\/B\.uasset is held by bob until .*, since .*, with the note "Repaint"\. Set --wait to wait for it\. Nothing was locked\./,
    );
    expect(await held()).toEqual(['Content/B.uasset bob']);
  });

  test('waits in line, where a higher priority comes first', async () => {
    await lockHere('admin', 'take', 'a');
    const wait = async (person: Person, paths: readonly string[], priority: string, place: string) => {
      const args = ['lock', 'take', ...paths, '--wait', '10m', '--priority', priority];
      const command = startCommand(args, { environment: environmentOf(person) });
      onTestFinished(() => command.signal('SIGKILL'));
      await command.logLine((line) => line.includes(`You are ${place} in line.`));
      return command;
    };
    const ada = await wait('ada', ['a'], 'normal', 'number 1 of 1');
    const bob = await wait('bob', ['a', 'b'], 'high', 'number 1 of 2');
    await lockHere('admin', 'release', 'a');
    expect(await bob.ended()).toBe(0);
    expect(await held()).toEqual(['a bob', 'b bob']);
    await lockHere('bob', 'release', 'a');
    expect(await ada.ended()).toBe(0);
  });

  test('names locks that may remain because the service stopped answering', async () => {
    await lockHere('bob', 'take', 'b');
    const told: string[] = [];
    const away = new ServiceError({ method: 'POST', path: '/', attempts: 1 }, timedOut);
    const request = {
      ...{ paths: [lockPath('a'), lockPath('b')], branch: undefined, note: undefined, ttl: valueIn(parseTtl('1h')) },
      ...({ wait: { seconds: 0 }, priority: 3 } as const),
    };
    // On a service that knows only the interface, each path is locked on its own.
    const pathByPath = onlyInterface;
    const others = { report: (line: string) => void told.push(line) };
    const unreleased = remoteOf('ada', () => ({
      ...pathByPath,
      releaseLock: async () => ({ kind: 'failed', error: away, mayBeDone: true }),
    }));
    await expect(takeLocks(async () => ({ ...unreleased, ...others }), request)).rejects.toThrow(
      /^b is held by bob(?!.*Nothing was locked)/s,
    );
    await lockHere('ada', 'release', 'a');
    expect(told).toEqual([expect.stringMatching(/^Could not release the lock on a: .*\. It expires at \d/)]);
    const unanswered = remoteOf('ada', () => ({
      ...pathByPath,
      acquireLock: async () => ({ kind: 'failed', error: away, mayBeDone: true }),
    }));
    await expect(takeLocks(async () => ({ ...unanswered, ...others }), request)).rejects.toThrow(away.message);
    expect(told.slice(1)).toEqual([
      expect.stringMatching(/^a may have been locked: .*expires 1h after it was granted/),
    ]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('leaves nothing locked if it is interrupted by %s: %d', async (signal, code) => {
    await lockHere('bob', 'take', 'b');
    const waiting = startCommand(['lock', 'take', 'a', 'b', '--wait', '10m'], { environment: environmentOf('ada') });
    await waiting.logLine((line) => line.includes('Waiting'));
    waiting.signal(signal);
    expect(await waiting.ended()).toBe(code);
    expect(waiting.stderr()).toContain('Interrupted. Nothing was locked.');
    expect(await held()).toEqual(['b bob']);
  });

  test('releases its own locks, and those of others only with --force and the right scope', async () => {
    await lockHere('bob', 'take', 'b');
    await lockHere('ada', 'take', 'a');
    const refused = await lockHere('ada', 'release', 'b', 'a', 'c');
    expect(refused).toMatchObject({ code: 1, stdout: 'Released a.\n' });
    expect(refused.stderr).toMatch(
      /b is held by bob until .*\. It was not released\. .* add --force --reason TEXT; the token needs the scope locks:admin/,
    );
    expect(refused.stderr).toContain('There is no lock on c.\n');
    const unscoped = await lockHere('ada', 'release', 'b', '--force', '--reason', 'Ill');
    expect(unscoped).toMatchObject({ code: 1, stderr: expect.stringContaining('locks:admin') });
    expect(await held()).toEqual(['b bob']);
    expect(await lockHere('admin', 'release', 'b', '--force', '--reason', 'Bob is ill & away')).toMatchObject({
      code: 0,
      stdout: 'Released b.\n',
      stderr: expect.stringMatching(/^b is held by bob until .*\.\n$/),
    });
    expect(await held()).toEqual([]);
    const { entries } = await readAudit(service.storage, { limit: 1 });
    expect(entries).toMatchObject([
      { actor: 'root', action: 'lock.force-released', detail: { workspace, path: 'b', reason: 'Bob is ill & away' } },
    ]);
  });

  test('names the path that could not be released, and says if that is uncertain', async () => {
    const errors = [{ pointer: '#/reason', detail: 'Unknown parameter. This endpoint supports force.' }];
    const earlier = await startOtherServer((response, request) =>
      (request.method === 'GET'
        ? json(200, { locks: [{ id: 'lock_1', path: 'a', owner: 'bob' }] })
        : problem(422, { title: 'Invalid request', errors }))(response, request),
    );
    const environment = { ...environmentOf('admin'), WORKSPACE_BASE_URL: earlier.baseUrl };
    const unknown = await runMain(['lock', 'release', 'a', '--force', '--reason', 'Bob is ill'], environment);
    expect(unknown.stderr).toContain('a was not released. Invalid request. reason: Unknown parameter.');

    await lockHere('ada', 'take', 'a');
    for (const [failure, mayBeDone, verb] of [
      [timedOut, true, 'may not have been'],
      [timedOut, false, 'was not'],
      // A gateway answered.
      [refused(403, { isTransient: true }), true, 'may not have been'],
      [refused(403, { missingScope: 'locks:write' }), false, 'was not'],
    ] as const) {
      const error = new ServiceError({ method: 'DELETE', path: '/', attempts: 1 }, failure);
      const lost = remoteOf('ada', () => ({ releaseLock: async () => ({ kind: 'failed', error, mayBeDone }) }));
      expect(await releaseRemoteLocks(lost, { paths: [lockPath('a')], force: false })).toMatchObject({
        released: [],
        problems: [`a ${verb} released. ${error.message}`],
      });
    }
  });

  test('takes locks on a service that knows only the interface, and says that it does not report their owner', async () => {
    const bare = await openBareService({ granted: (path) => json(201, { id: path, path }) }, ['c']);
    onTestFinished(bare.close);
    const environment = { ...environmentOf('ada'), WORKSPACE_BASE_URL: bare.baseUrl, WORKSPACE_ID: 'game' };
    const lock = (...args: readonly string[]) => runMain(['lock', ...args], environment);
    expect(await lock('take', 'a', 'b')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Locked a until \d.*\nLocked b until \d/),
    });
    expect(await lock('take', 'c')).toMatchObject({ code: 1, stderr: expect.stringContaining('c is held') });
    expect(await lock('check', 'd')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('You do not hold the lock on 1 of 1 path'),
    });
    for (const args of [
      ['check', 'a', 'd'],
      ['extend', 'a', '--ttl', '2h'],
    ]) {
      const { code, stdout, stderr } = await lock(...args);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain('a is held, and this service does not say whether by you.');
    }
    expect((await lock('check', 'a', 'd')).stderr).toContain(
      'It is unknown whether you hold the lock on 2 of 2 paths.',
    );
  });

  test('does not report a path as free if an incomplete list lacks it', async () => {
    const incomplete = 'The list of locks may be incomplete.';
    const remote = remoteOf('ada', () => ({ listLocks: async () => ({ items: [], incomplete }) }));
    await expect(checkPaths(remote, [lockPath('a')])).rejects.toThrow(incomplete);
  });

  test('releases only the lock that it has seen, and not a newer one, even with --force', async () => {
    await lockHere('ada', 'take', 'a');
    const remote = remoteOf('admin', (client) => ({
      async listLocks(...request) {
        const seen = await client.listLocks(...request);
        await lockHere('ada', 'release', 'a');
        await lockHere('bob', 'take', 'a');
        return seen;
      },
    }));
    const { released, problems } = await releaseRemoteLocks(remote, { paths: [lockPath('a')], force: true });
    expect({ released, problems }).toEqual({
      released: [],
      problems: [expect.stringContaining('was left alone: a is held by bob')],
    });
    expect(await held()).toEqual(['a bob']);
  });

  test.each<[string, NodeJS.ProcessEnv, readonly string[], string]>([
    ['a missing token', { WORKSPACE_TOKEN: '' }, ['list'], 'workspace-service token create'],
    ['a malformed token', { WORKSPACE_TOKEN: 's3cret in parts' }, ['list'], 'WORKSPACE_TOKEN cannot be used.'],
    ['a missing workspace', { WORKSPACE_ID: '' }, ['list'], 'WORKSPACE_ID is not set: the id of the workspace.'],
    ['a missing URL', { WORKSPACE_BASE_URL: '' }, ['take', 'a'], 'WORKSPACE_BASE_URL is not set'],
    ['plain http elsewhere', { WORKSPACE_BASE_URL: 'http://192.0.2.1/v1' }, ['list'], 'Use https, or set --allow-http'],
    ['URL credentials', { WORKSPACE_BASE_URL: 'https://a:s3cret@b.example/v1' }, ['list'], 'user name or a password'],
    ['no paths to check', {}, ['check'], 'PATH is missing: a path to check.'],
    ['a reason without --force', {}, ['release', 'a', '--reason', 'b'], 'Add --force, or remove --reason.'],
    ['a forced release without a reason', {}, ['release', 'a', '--force'], '--force needs --reason'],
    ['an invalid path', {}, ['take', '../a'], 'PATH is "../a".'],
  ])('rejects %s as wrong usage', async (_, environment, args, sentence) => {
    const { code, stdout, stderr } = await runMain(['lock', ...args], { ...environmentOf('ada'), ...environment });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/s3cret|wsa_/);
  });
});

describe('lock check in a hook before each commit', () => {
  let folder: string;

  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', env: gitEnvironment('ada'), stdio: 'pipe' });

  const gitEnvironment = (person: Person) => ({
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    ...compileCache,
    ...environmentOf(person),
  });

  const write = (name: string, content = name): void => writeIn(folder, name, content);

  /** Runs without blocking this process, which also runs the service that the hook calls. */
  async function commit(person: Person, ...args: readonly string[]) {
    const options = { cwd: folder, env: gitEnvironment(person) };
    const command = promisify(execFile)('git', ['commit', '--quiet', '--message', 'Change', ...args], options);
    const told = await command.catch((error: Partial<Awaited<typeof command>>) => error);
    return { committed: !(told instanceof Error), told: `${told.stdout}${told.stderr}` };
  }

  beforeEach(async () => {
    folder = temporaryFolder();
    git('init', '--quiet', '--initial-branch=main');
    // One file name that git quotes, and one that looks like a path only to git.
    for (const name of ['Content/Hero.uasset', 'Content/Ä "Gate".uasset', 'Content/Old.uasset', 'read.me']) write(name);
    git('add', '--all');
    git('commit', '--quiet', '--message', 'Begin');
    const hook = snippetWith(await readPage('docs/artists.md'), 'lock check');
    write('.git/hooks/pre-commit', hook.replace('workspace-service', `'${process.execPath}' '${bin}'`));
    execFileSync('chmod', ['+x', join(folder, '.git/hooks/pre-commit')]);
  });

  test('accepts a commit if its author holds the locks of the lockable files in it', async () => {
    write('Content/Ä "Gate".uasset', 'new');
    write('read.me', 'new');
    git('add', '--all');
    expect((await commit('ada')).committed).toBe(false);
    await lockHere('ada', 'take', 'Content/Ä "Gate".uasset');
    expect((await commit('bob')).told).toContain('You do not hold the lock on 1 of 1 path.');
    expect((await commit('ada')).committed).toBe(true);
  });

  test('rejects a commit that changes, renames or deletes a file without a lock, and names its holder', async () => {
    await lockHere('bob', 'take', 'Content/Hero.uasset');
    await lockHere('ada', 'take', 'Content/Moved.uasset');
    write('Content/Hero.uasset', 'new');
    git('add', '--all');
    git('mv', 'Content/Old.uasset', 'Content/Moved.uasset');
    git('rm', '--quiet', 'Content/Ä "Gate".uasset');
    const { committed, told } = await commit('ada');
    expect(committed).toBe(false);
    expect(told).toMatch(/Content\/Hero\.uasset is held by bob until /);
    expect(told).toContain('Content/Old.uasset is free.');
    expect(told).toContain('Content/Ä "Gate".uasset is free.');
    expect(told).toContain('Content/Moved.uasset is held by you');
    expect(told).toMatch(
      /You do not hold the lock on 3 of 4 paths\. Lock free paths with "workspace-service lock take PATH", and wait for others with/,
    );
  });

  test('checks a file that only the commit command names', async () => {
    write('Content/Hero.uasset', 'new');
    write('Content/Old.uasset', 'new');
    git('add', 'Content/Old.uasset');
    // git passes the hook an index with only this file.
    const { told } = await commit('ada', '--only', 'Content/Hero.uasset');
    expect(told).toContain('Content/Hero.uasset is free');
    expect(told).not.toContain('Content/Old.uasset');
  });

  test('accepts changes from the other side of a merge without locks', async () => {
    git('switch', '--quiet', '--create', 'theirs');
    write('Content/Hero.uasset', 'theirs');
    write('read.me', 'theirs');
    git('commit', '--quiet', '--all', '--no-verify', '--message', 'Theirs');
    git('switch', '--quiet', 'main');
    write('read.me', 'ours');
    git('commit', '--quiet', '--all', '--no-verify', '--message', 'Ours');
    expect(() => git('merge', '--quiet', 'theirs')).toThrow();
    write('read.me', 'both');
    git('add', 'read.me');
    expect((await commit('ada')).committed).toBe(true);
  });

  test('passes without a request if no such file is staged', async () => {
    write('read.me', 'new');
    write('unspecified', 'new');
    git('add', '--all');
    workspace = '';
    expect(await commit('ada')).toEqual({ committed: true, told: '' });
  });
});
