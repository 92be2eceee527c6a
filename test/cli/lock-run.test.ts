import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runMain } from '../command/run-main.ts';
import { openBareService } from '../e2e/bare-service.ts';
import { sharedService } from '../service/http/shared-service.ts';
import { leaveOut } from '../support/left-out.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { type RunningCommand, runCommand, startCommand, startServiceProcess } from '../support/service-process.ts';
import { startProcess } from '../support/started-process.ts';
import { storePool } from '../support/stored-pool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const service = sharedService();
const path = 'Content/Hero.uasset';
let workspace: string;
let secret: string;

beforeAll(async () => {
  secret = (await service.token({ name: 'ci', owner: 'ci', scopes: ['locks:write'] })).secret;
});

beforeEach(async () => {
  workspace = await service.workspace();
});

const environment = () => ({
  WORKSPACE_BASE_URL: `${service.baseUrl}/v1`,
  WORKSPACE_TOKEN: secret,
  WORKSPACE_ID: workspace,
});

const run = (args: readonly string[], ...command: readonly string[]) =>
  runCommand(['lock', 'run', ...args, '--', ...command], { environment: environment() });

function start(args: readonly string[], script: string, through: readonly string[] = []): RunningCommand {
  const command = startCommand(['lock', 'run', path, ...args, '--', 'bash', '-c', script], {
    environment: environment(),
    through,
  });
  onTestFinished(() => command.signal('SIGKILL'));
  return command;
}

const locks = (): Promise<readonly { readonly path: string; readonly expires_at: string }[]> =>
  service.ask('GET', `/v1/workspaces/${workspace}/locks`, { token: service.secret }).then(({ body }) => body.locks);

const lockIt = (who: string, locked = path) =>
  service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
    token: who,
    json: { path: locked, type: 'exclusive', ttl: '1h' },
  });

const release = (locked: string) =>
  service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${encodeURIComponent(locked)}?force=true`, {
    token: service.secret,
  });

const takeAway = () => release(path);

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A zombie has ended.
    return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const ready = (command: RunningCommand) => command.line((line) => line.startsWith('ready'));
const pidIn = (line: string): number => Number(line.split(' ')[1]);

describe('a command under a lock', () => {
  test('runs with the locks, their fence and their file, and releases them', async () => {
    const script =
      'echo "$LOCK_FENCE $LOCK_PIPE $(stat -c %a "$LOCKS_FILE")"; echo "$LOCKS_FILE"; cat "$LOCKS_FILE"; echo "$@"';
    const { code, stdout, stderr } = await run([path, 'b'], 'bash', '-c', script, 'bash', '--help', '--', 'help');
    expect(code, stderr).toBe(0);
    const [fence = '', file = '', rest = ''] = stdout.split('\n');
    const [json = '', words = ''] = rest.split(/(?<=\])/);
    const held: readonly { readonly path: string; readonly fence: number }[] = JSON.parse(json);
    expect(held.map((lock) => lock.path).toSorted()).toEqual([path, 'b']);
    expect(fence).toBe(`${Math.max(...held.map((lock) => lock.fence))} 3 600`);
    expect(words).toBe('--help -- help');
    expect(() => readFileSync(file)).toThrow('ENOENT');
    expect(stderr).not.toContain('wsa_');
    expect(await locks()).toEqual([]);
  });

  test('returns 127 or 126 if it cannot start, and releases the locks', async () => {
    expect(await run([path], 'no-such-program')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('Could not start no-such-program: it, or its interpreter, does not exist.\n'),
    });
    const file = join(temporaryFolder(), 'not-executable');
    await writeFile(file, 'echo');
    expect(await run([path], file)).toMatchObject({
      code: 126,
      stderr: expect.stringMatching(/: this user may not run it\.\n$/),
    });
    expect(await locks()).toEqual([]);
  });

  test('does not run without the lock: 75', async () => {
    await lockIt(service.secret);
    const script = 'echo "It ran."';
    for (const more of [[], ['--wait', '1s']]) {
      const { code, stdout, stderr } = await run([path, ...more], 'bash', '-c', script);
      expect(code).toBe(75);
      expect(stderr).toMatch(/Content\/Hero\.uasset is held by .*--wait.*The command did not run\.\n$/s);
      expect(stdout).toBe('');
    }
    expect(await locks()).toHaveLength(1);
  });

  test.skipIf(process.platform === 'win32')('does not run without a file for its locks: 75', async () => {
    const command = start([], 'echo "It ran."', ['bash', '-c', 'ulimit -f 0; exec "$@"', 'bash']);
    expect(await command.ended()).toBe(75);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toMatch(/EFBIG.*\. The command did not run\.\n$/);
    expect(await locks()).toEqual([]);
  });

  test('reports a lock once that cannot be released after it did not run', async () => {
    const server = await startOtherServer((response, request) =>
      (request.method === 'DELETE' ? json(403, { error: 'no' }) : json(201, { id: 'l1', path }))(response, request),
    );
    vi.stubEnv('TMPDIR', join(temporaryFolder(), 'missing'));
    const elsewhere = { ...environment(), WORKSPACE_BASE_URL: server.baseUrl };
    const ran = await runMain(['lock', 'run', path, '--', 'true'], elsewhere);
    vi.unstubAllEnvs();
    expect(ran).toMatchObject({ code: 75, stderr: expect.stringContaining('The command did not run.') });
    expect(ran.stderr.match(/Could not release the lock/g)).toHaveLength(1);
  });

  test.each([
    ['without ids', {}],
    ['with ids', { granted: () => json(201, { id: 'l1', path }) }],
  ])('runs after a warning if its service cannot renew locks %s', async (_, habits) => {
    const bare = await openBareService(habits);
    onTestFinished(bare.close);
    const { code, stdout, stderr } = await runCommand(['lock', 'run', path, '--', 'echo', 'It ran.'], {
      environment: { ...environment(), WORKSPACE_BASE_URL: bare.baseUrl, WORKSPACE_ID: 'game' },
    });
    expect(stderr).toMatch(/This service cannot renew locks\. .* choose a longer --ttl if it takes longer\.\n/);
    expect([code, stdout, ...bare.locked]).toEqual([0, 'It ran.\n']);
  });

  test('locks any of the paths', async () => {
    await lockIt(service.secret);
    const { code, stdout } = await run([path, 'b', '--any', '1'], 'bash', '-c', 'cat "$LOCKS_FILE"');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ path: 'b' }]);
  });

  test('is refused with 2 for wrong usage', async () => {
    const wrong = async (...args: readonly string[]) => (await runMain(['lock', 'run', ...args], environment())).code;
    expect(await wrong('--', 'true')).toBe(2);
    expect(await wrong(path)).toBe(2);
    expect(await wrong(path, '--')).toBe(2);
    expect(await wrong(path, '--any', '2', '--', 'true')).toBe(2);
    expect(await wrong(path, '--pool', 'unity-pro', '--', 'true')).toBe(2);
    expect(await wrong(path, '--where', 'host=b1', '--', 'true')).toBe(2);
    expect(await wrong('--pool', 'unity-pro', '--where', 'host', '--', 'true')).toBe(2);
    expect(await wrong('--pool', 'unity-pro', '--where', 'host=b1', '--where', 'host=b2', '--', 'true')).toBe(2);
    expect(await wrong(path, '--branch', 'a..b', '--', 'true')).toBe(2);
    expect((await runMain(['lock', 'run', path, '--', 'true'], { WORKSPACE_ID: workspace })).code).toBe(2);
  });

  test('closes the pipe when it ends, also for processes that it leaves behind', async () => {
    const { code, stdout } = await run([path], 'bash', '-c', '(cat; echo over) <&$LOCK_PIPE & exit 4');
    expect({ code, stdout }).toEqual({ code: 4, stdout: 'over\n' });
  });
});

describe('a command under a lock on an item of a pool', () => {
  const serial = 'A1-s3cret';
  const pool = ['--pool', 'unity-pro'];
  const seats = ['seats/1', `secret:serial=${serial},host-name=b1,fence=x`, 'seats/2', 'host-name=b2'] as const;
  const store = () => storePool(service.storage, workspace, 'unity-pro', ...seats);
  const printSeat = 'echo "$LOCK_SERIAL $LOCK_HOST_NAME $LOCK_FENCE"; cat "$LOCKS_FILE"';

  test('gets the properties of its item, and the log shows no secrets', async () => {
    await store();
    const { code, stdout, stderr } = await run([...pool, '--where', 'host-name=b1'], 'bash', '-c', printSeat);
    expect(code, stderr).toBe(0);
    expect(stderr).toBe('Locked seats/1.\n');
    const [variables = '', file = ''] = stdout.split('\n');
    expect(variables).toMatch(/^A1-s3cret b1 \d+$/);
    const properties = { serial, 'host-name': 'b1', fence: 'x' };
    expect(JSON.parse(file)).toMatchObject([{ path: 'seats/1', properties }]);
    expect(await locks()).toEqual([]);
  });

  test('waits for an item, and gets the first that is free', async () => {
    await store();
    for (const seat of ['seats/1', 'seats/2']) await lockIt(service.secret, seat);
    const command = startCommand(['lock', 'run', ...pool, '--wait', '2m', '--', 'bash', '-c', printSeat], {
      environment: environment(),
    });
    onTestFinished(() => command.signal('SIGKILL'));
    await command.logLine((line) => line.includes('Too few are free'));
    await release('seats/1');
    expect(await command.ended()).toBe(0);
    expect(command.stdout()).toMatch(/^A1-s3cret b1 \d+\n/);
    expect(command.stderr()).not.toContain(serial);
    expect((await locks()).map((lock) => lock.path)).toEqual(['seats/2']);
  });
});

const bin = join(import.meta.dirname, '../../build/workspace-service.mjs');

describe('a signal', () => {
  const untilStopped =
    'trap "echo stopped; exit 3" TERM INT HUP QUIT USR1 USR2; echo ready; while :; do sleep 0.1; done';

  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

  test.each(signals)('%s to the process alone reaches the command at once', async (signal) => {
    const command = start([], untilStopped);
    await ready(command);
    command.signal(signal);
    expect(await command.ended()).toBe(3);
    expect(command.stdout()).toBe('ready\nstopped\n');
    expect(await locks()).toEqual([]);
  });

  test('reaches the command only once if it is sent to the process group', async () => {
    const command = start([], 'trap "echo got it" INT; echo ready; for i in {1..15}; do sleep 0.1; done', ['setsid']);
    await ready(command);
    process.kill(-command.pid, 'SIGINT');
    expect(await command.ended()).toBe(0);
    expect(command.stdout()).toBe('ready\ngot it\n');
    expect(await locks()).toEqual([]);
  });

  test('ends the wait for a lock at once', async () => {
    await lockIt(service.secret);
    const command = start(['--wait', '10m'], 'echo "It ran."');
    await command.logLine((line) => line.includes('is held by'));
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(143);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toContain('Interrupted. The command did not run.\n');
    expect(await locks()).toHaveLength(1);
  });

  test('ends a release without a response soon, once the command has ended', async () => {
    const asked = Promise.withResolvers<void>();
    const instead = ({ method }: { readonly method: string }) =>
      method === 'DELETE' ? () => asked.resolve() : undefined;
    const bare = await openBareService({ granted: () => json(201, { id: 'l1', path }), instead });
    onTestFinished(bare.close);
    const elsewhere = { ...environment(), WORKSPACE_BASE_URL: bare.baseUrl, WORKSPACE_ID: 'game' };
    const command = startCommand(['lock', 'run', path, '--', 'true'], { environment: elsewhere });
    await asked.promise;
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(0);
    expect(command.stderr()).toContain(`Could not release the lock on ${path}`);
    // Without the signal, the request takes 25 s.
  }, 15_000);
});

test('does not wait for a process that the command started in a separate session', async () => {
  const file = join(temporaryFolder(), 'pid');
  onTestFinished(() => void process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL'));
  const daemon = `echo $$ > ${file}; exec sleep 600`;
  const script = `setsid sh -c '${daemon}' < /dev/null > /dev/null 2>&1 & while [ ! -s ${file} ]; do sleep 0.1; done; exit 3`;
  expect(await run([path], 'sh', '-c', script)).toMatchObject({ code: 3 });
  expect(await locks()).toEqual([]);
});

test('keeps the lock until processes that the command left behind have ended, or ends them', async () => {
  const flag = join(temporaryFolder(), 'flag');
  const left = start([], `(while [ ! -e ${flag} ]; do sleep 0.05; done; echo over) & exit 4`);
  await left.logLine((line) => line.startsWith('The command has ended, but'));
  expect(await locks()).toHaveLength(1);
  await writeFile(flag, '');
  expect(await left.ended()).toBe(4);
  expect(left.stdout()).toBe('over\n');
  const endless = start(['--grace', '1s'], 'sleep 300 & echo "ready $!"');
  const pid = pidIn(await ready(endless));
  expect(await endless.ended()).toBe(0);
  expect(isRunning(pid)).toBe(false);
  expect(await locks()).toEqual([]);
});

describe('at a terminal', () => {
  beforeEach((context) => {
    // `script` of util-linux runs a command on its own terminal.
    if (process.platform !== 'linux') leaveOut(context, 'There is no program here that runs a command on a terminal.');
  });

  /** Runs it as the only command of a terminal, whose keys are the input. */
  function startAtTerminal(script: string) {
    const words = [process.execPath, bin, 'lock', 'run', path, '--', 'bash', '-c', script];
    const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const args = ['script', '--quiet', '--return', '--flush', '--command', `exec ${line}`, '/dev/null'];
    const env = { PATH: process.env['PATH'], SHELL: '/bin/sh', ...environment() };
    const terminal = startProcess(args, { env, hasInput: true });
    onTestFinished(() => terminal.signal('SIGKILL'));
    return { ...terminal, shows: (text: string) => terminal.stdout.until((all) => all.includes(text) || undefined) };
  }

  test('the command can read from the terminal', async () => {
    const terminal = startAtTerminal('read -r word; echo "got $word"');
    await terminal.shows('Locked');
    terminal.stdin.write('secret\n');
    await terminal.shows('got secret');
    expect(await terminal.ended()).toBe(0);
    expect(await locks()).toEqual([]);
  });

  test('Ctrl-C reaches the command once, and Ctrl-Z does not suspend it', async () => {
    const terminal = startAtTerminal(
      'trap "echo caught; n=x$n" INT; echo ready; until [ "$n" = x ]; do sleep 0.1; done; sleep 1; echo "n=$n"',
    );
    await terminal.shows('ready');
    terminal.stdin.write('\x1a');
    await terminal.shows('Not suspended');
    terminal.stdin.write('\x03');
    await terminal.shows('n=x');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.stdout.text().match(/caught/g)).toHaveLength(1);
    expect(await locks()).toEqual([]);
  });
});

describe('a lock that is lost', () => {
  const args = ['--ttl', '6s', '--grace', '1s'];

  test('stops the command and its processes: 76', async () => {
    const script = 'sleep 300 & echo "ready $!"; wait';
    const command = start(args, script);
    const grandchild = pidIn(await ready(command));
    await takeAway();
    await lockIt(service.secret);
    expect(await command.ended()).toBe(76);
    expect(isRunning(grandchild)).toBe(false);
    expect(command.stderr()).toMatch(/The lock on Content\/Hero\.uasset was lost at .*Stopping the command\./);
    // The lock of the new holder is left alone.
    expect(await locks()).toHaveLength(1);
  });

  test.each([
    ['alone', []],
    ['with another one, in a lease', ['b']],
  ])('after the last renewal and before the release is reported, too: 76, %s', async (_, others) => {
    const file = join(temporaryFolder(), 'go-on');
    const command = start([...others, '--ttl', '1h'], `echo ready; until [ -e ${file} ]; do sleep 0.05; done`);
    await ready(command);
    await takeAway();
    await lockIt(service.secret);
    await writeFile(file, '');
    expect(await command.ended(), command.stderr()).toBe(76);
    expect(command.stderr()).toMatch(/The lock on Content\/Hero\.uasset was lost before its release: .* is held by /);
    expect(await locks()).toHaveLength(1);
  });

  test('gives a command time to end, even one that is suspended', async () => {
    const script = 'trap "sleep 0.3; echo stopped" TERM; echo ready; kill -STOP $$; echo over';
    const command = start(['--ttl', '6s'], script);
    await ready(command);
    await takeAway();
    expect(await command.ended()).toBe(76);
    expect(command.stdout()).toBe('ready\nstopped\nover\n');
  });

  test('kills processes of the command that ignore SIGTERM after the grace period, and only then releases the others', async () => {
    const command = start(['b', ...args], '(trap "" TERM; sleep 300) & echo "ready $!"; wait');
    const grandchild = pidIn(await ready(command));
    await takeAway();
    await expect.poll(locks).toEqual([]);
    expect(isRunning(grandchild)).toBe(false);
    expect(await command.ended()).toBe(76);
  });
});

test.each(['1s', '1m'])(
  'a command under a lock ends before its lock if the service is gone, with --grace %s',
  async (grace) => {
    const own = await startServiceProcess();
    const file = join(temporaryFolder(), 'alive');
    const script = `trap "" TERM; echo ready; while :; do date > ${file}; sleep 0.05; done`;
    const command = startCommand(
      [...['lock', 'run', path, '--ttl', '8s', '--grace', grace], '--', 'bash', '-c', script],
      { environment: { WORKSPACE_BASE_URL: own.baseUrl, WORKSPACE_TOKEN: own.token, WORKSPACE_ID: own.workspace } },
    );
    await ready(command);
    await own.kill();
    const lastEnd = Date.now() + 8_000;
    // Not "ago": the command must end before another job can have the lock.
    await command.logLine((line) => /could not be renewed, and ends at .* \(in /.test(line));
    expect(await command.ended()).toBe(76);
    expect(command.stderr()).toMatch(/Could not release the lock on .* It expires at /);
    expect(statSync(file).mtimeMs).toBeLessThan(lastEnd);
  },
);

test('a command under a lock sees the end of its pipe if the process is killed, and the lock ends with its ttl', async () => {
  const file = join(temporaryFolder(), 'told');
  const command = start(['--ttl', '2s'], `echo ready; cat <&$LOCK_PIPE; echo told > ${file}`);
  await ready(command);
  command.signal('SIGKILL');
  await expect.poll(() => readFileSync(file, 'utf8')).toBe('told\n');
  await expect.poll(locks).toEqual([]);
});
