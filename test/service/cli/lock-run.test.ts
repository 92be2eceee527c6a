import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type RunningCommand, runCommand, startCommand, startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { runMain } from './run-main.ts';

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

const takeAway = () =>
  service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${encodeURIComponent(path)}?force=true`, {
    token: service.secret,
  });

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

  test.each([
    ['its exit status', 'exit 7', 7],
    ['128 and the number of the signal that killed it', 'kill -KILL $$', 137],
  ])('returns %s, and releases the locks', async (_, script, code) => {
    expect(await run([path], 'bash', '-c', script)).toMatchObject({ code });
    expect(await locks()).toEqual([]);
  });

  test('returns 127 or 126 if it cannot start, and releases the locks', async () => {
    expect(await run([path], 'no-such-program')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('Could not start no-such-program'),
    });
    const file = join(temporaryFolder(), 'not-executable');
    await writeFile(file, 'echo');
    expect(await run([path], file)).toMatchObject({ code: 126 });
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

  test('returns 75 if the service cannot be reached or rejects the token', async () => {
    const rejected = { ...environment(), WORKSPACE_TOKEN: 'wsa_wrong' };
    expect(await runCommand(['lock', 'run', path, '--', 'true'], { environment: rejected })).toMatchObject({
      code: 75,
    });
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
    expect(await wrong(path, '--on-lost', 'ignore', '--', 'true')).toBe(2);
    expect(await wrong(path, '--any', '2', '--', 'true')).toBe(2);
    expect((await runMain(['lock', 'run', path, '--', 'true'], { WORKSPACE_ID: workspace })).code).toBe(2);
  });

  test('keeps its locks beyond their ttl', async () => {
    const { code } = await run([path, '--ttl', '2s'], 'sleep', '5');
    expect(code).toBe(0);
    expect(await locks()).toEqual([]);
  });

  test('reads stdin', async () => {
    const words = [bin, 'lock', 'run', path, '--', 'cat'];
    const command = promisify(execFile)(process.execPath, words, {
      env: { PATH: process.env['PATH'], ...environment() },
    });
    command.child.stdin?.end('some input\n');
    expect((await command).stdout).toBe('some input\n');
  });
});

const bin = join(import.meta.dirname, '../../../bin/workspace-service.js');

describe('a signal', () => {
  const untilStopped = 'trap "echo stopped; exit 3" TERM INT; echo ready; while :; do sleep 0.1; done';

  test.each(['SIGTERM', 'SIGINT'] as const)('to the process only, %s, reaches the command at once', async (signal) => {
    const command = start([], untilStopped);
    await ready(command);
    command.signal(signal);
    expect(await command.ended()).toBe(3);
    expect(command.stdout()).toBe('ready\nstopped\n');
    expect(await locks()).toEqual([]);
  });

  test('to the process group reaches the command once', async () => {
    const command = start([], 'trap "echo got it" INT; echo ready; for i in {1..15}; do sleep 0.1; done', ['setsid']);
    await ready(command);
    process.kill(-command.pid, 'SIGINT');
    expect(await command.ended()).toBe(0);
    expect(command.stdout()).toBe('ready\ngot it\n');
    expect(await locks()).toEqual([]);
  });

  test('that kills the command gives its exit status', async () => {
    const command = start([], 'echo ready; sleep 60');
    await ready(command);
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(143);
    expect(await locks()).toEqual([]);
  });

  test('ends the wait for a lock at once', async () => {
    await lockIt(service.secret);
    const command = start(['--wait', '10m'], 'echo "It ran."');
    await command.logLine((line) => line.includes('is held by'));
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(143);
    expect(command.stdout()).toBe('');
    expect(await locks()).toHaveLength(1);
  });
});

describe('a lock that is lost', () => {
  const args = ['--ttl', '2s', '--grace', '1s'];

  test('stops the command and what it started: 76', async () => {
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

  test('kills a command that ignores SIGTERM, with what it started, after the grace period', async () => {
    const command = start(
      args,
      'trap "" TERM; bash -c \'trap "" TERM; sleep 300\' & echo "ready $!"; while :; do sleep 0.1; done',
    );
    const grandchild = pidIn(await ready(command));
    await takeAway();
    expect(await command.ended()).toBe(76);
    expect(isRunning(grandchild)).toBe(false);
  });

  test('only leads to a warning with --on-lost warn', async () => {
    const command = start([...args, '--on-lost', 'warn'], 'echo ready; cat <&$LOCK_PIPE; echo "pipe ended"; exit 5');
    await ready(command);
    await takeAway();
    expect(await command.ended()).toBe(5);
    expect(command.stdout()).toBe('ready\npipe ended\n');
    expect(command.stderr()).toMatch(/was lost at/);
    expect(command.stderr()).not.toContain('Stopping');
  });
});

test('a command under a lock is stopped before its lock expires if the service is gone', async () => {
  const own = await startServiceProcess();
  const command = startCommand(
    [
      'lock',
      'run',
      path,
      '--ttl',
      '4s',
      '--grace',
      '1s',
      '--',
      'bash',
      '-c',
      'trap "" TERM; echo ready; while :; do sleep 0.1; done',
    ],
    { environment: { WORKSPACE_BASE_URL: own.baseUrl, WORKSPACE_TOKEN: own.token, WORKSPACE_ID: own.workspace } },
  );
  await ready(command);
  await own.kill();
  // Not "ago": the command must end before another job can have the lock.
  await command.logLine((line) => /could not be renewed, and ends at .* \(in /.test(line));
  expect(await command.ended()).toBe(76);
  expect(command.stderr()).toContain('could not be released, and ends at');
});

test('a command under a lock sees the end of its pipe if the process is killed, and the lock ends with its ttl', async () => {
  const file = join(temporaryFolder(), 'told');
  const command = start(['--ttl', '2s'], `echo ready; cat <&$LOCK_PIPE; echo told > ${file}`);
  await ready(command);
  command.signal('SIGKILL');
  await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 5_000 }).toBe('told\n');
  await expect.poll(locks, { timeout: 5_000 }).toEqual([]);
});
