import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** Runs a command of bench/ in a child process that ends with the test. */
export function startProgram(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    told += more;
  });
  return {
    ended: Promise.all([closed, text(child.stdout)]).then(([[code], stdout]) => ({ code, stdout, stderr: told })),
    /** Waits for these words on stderr. */
    async tells(words: string): Promise<void> {
      while (!told.includes(words)) await once(child.stderr, 'data');
    },
    interrupt: () => void child.kill('SIGINT'),
  };
}
