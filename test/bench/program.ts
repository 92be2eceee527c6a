import { onTestFinished } from 'vitest';
import { startProcess } from '../support/started-process.ts';

/** Runs a command of bench/ in a child process that ends with the test. */
export function startProgram(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { ended, stdout, stderr, signal } = startProcess([process.execPath, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    timeoutMs: 170_000,
  });
  onTestFinished(() => signal('SIGKILL'));
  return {
    ended: ended().then((code) => ({ code, stdout: stdout.text(), stderr: stderr.text() })),
    /** Waits for these words on stderr. */
    tells: (words: string) => stderr.until((text) => text.includes(words) || undefined),
    interrupt: () => signal('SIGINT'),
  };
}
