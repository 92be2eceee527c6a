import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, type TestContext } from 'vitest';
import { leaveOut } from '../support/left-out.ts';

const onWindows = process.platform === 'win32';

export function needSignals(context: TestContext): void {
  if (onWindows) leaveOut(context, 'On Windows no process can send a Ctrl-C to one other.');
}

const main = fileURLToPath(new URL('../../demo/main.ts', import.meta.url));

const running = new Set<() => void>();

/** Ends all processes if a test is stopped early: the test runner ends its workers with SIGTERM. */
function endAll(): void {
  for (const end of running) end();
}
process.once('exit', endAll);
process.once('SIGTERM', () => {
  endAll();
  process.kill(process.pid, 'SIGTERM');
});

export interface DemoProcess {
  readonly ended: Promise<number | NodeJS.Signals | null>;
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  type(text: string): void;
  /** Closes the read end of its output. */
  stopReading(): void;
  /** Fails if a process or a file remains. */
  expectNothingLeft(): Promise<void>;
}

/** Starts the demo like npm, in its own process group and temporary folder. */
export async function startDemo(
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
  atEnd: (cleanUp: () => Promise<void>) => void = onTestFinished,
  where: 'pipe' | 'terminal' = 'pipe',
): Promise<DemoProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  const command = [process.execPath, main, ...args];
  const onTerminal = ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null'];
  const [program = '', ...rest] = where === 'terminal' ? onTerminal : command;
  const child = spawn(program, rest, {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TEMP: folder, TMP: folder, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: !onWindows,
  });
  const pid = child.pid ?? 0;
  const signalGroup = (name: NodeJS.Signals | 0): void => void process.kill(onWindows ? pid : -pid, name);
  const end = (): void => void captured(() => signalGroup('SIGKILL'));
  running.add(end);
  atEnd(async () => {
    end();
    running.delete(end);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  let stdout = '';
  let stderr = '';
  const looks = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const look of looks) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return {
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(stdout);
          if (found !== null) resolve(found);
        };
        looks.add(look);
        look();
        void ended.then((how) => reject(new Error(`It ended (${how}) without ${pattern}:\n${stdout}\n${stderr}`)));
      }),
    signal: (name) => void child.kill(name),
    type: (text) => void child.stdin.write(text),
    stopReading: () => void child.stdout.destroy(),
    async expectNothingLeft() {
      // An ended process leaves its group only after its parent, or the system, has reaped it.
      if (!onWindows) await expect.poll(() => captured(() => signalGroup(0))).toMatch(/ESRCH/);
      expect(await readdir(folder)).toEqual([]);
    },
  };
}

/** Returns the error as text, for example for a missing process. */
function captured(act: () => void): string {
  try {
    act();
    return '';
  } catch (error) {
    return String(error);
  }
}
