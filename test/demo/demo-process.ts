import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { type Ending, endWithTests, startProcess } from '../support/started-process.ts';

const main = fileURLToPath(new URL('../../scripts/demo/main.ts', import.meta.url));

export interface DemoProcess {
  readonly ended: Promise<Ending>;
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
  const { pid, stdin, stdout, stderr, signal, ...started } = startProcess([program, ...rest], {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TEMP: folder, TMP: folder, ...environment },
    hasInput: true,
    detached: true,
  });
  const signalGroup = (name: NodeJS.Signals | 0): void => void process.kill(-pid, name);
  const end = (): void => void captured(() => signalGroup('SIGKILL'));
  const forget = endWithTests(end);
  atEnd(async () => {
    end();
    forget();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    ended: started.ended(),
    stdout: stdout.text,
    stderr: stderr.text,
    shows: (pattern) => stdout.until((text) => pattern.exec(text)),
    signal,
    type: (text) => void stdin.write(text),
    stopReading: stdout.close,
    async expectNothingLeft() {
      // An ended process leaves its group only after its parent, or the system, has reaped it.
      await expect.poll(() => captured(() => signalGroup(0))).toMatch(/ESRCH/);
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
