import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ShortStep {
  readonly stage: 'main' | 'post';
  /** All that the step finds in its environment, but for the files of the runner. */
  readonly env: Readonly<Record<string, string>>;
  /** Files that are there before it begins, by their paths from the runner's temporary folder on. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
  /** The runner's temporary folder is that of the step before, and what that one saved is there. */
  readonly goesOn?: boolean;
}

export interface ShortResult {
  readonly exitCode: number;
  /** Every byte that it wrote to its log, as UTF-8. */
  readonly log: string;
  /** The files of the runner, as it left them. */
  readonly output: string;
  readonly state: string;
  readonly summary: string;
  /** What nobody caught, with its stack, and what Node warned of. */
  readonly crashes: readonly string[];
}

/** A process that runs one step after the other. */
export interface OneProcess {
  run(step: ShortStep): Promise<ShortResult>;
  end(): Promise<void>;
}

const script = fileURLToPath(new URL('./one-process-steps.ts', import.meta.url));

/**
 * The main and the post of the action, from their sources and from their beginning each time, but without a process for
 * each: a step takes a few milliseconds, so that thousands of them can be tried. What matters to the end of a process,
 * such as a socket that is left open, is for tests that start one.
 */
export function startOneProcess(env: Readonly<Record<string, string>> = {}): OneProcess {
  const child: ChildProcess = fork(script, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    execArgv: [],
  });
  let before: Promise<unknown> = Promise.resolve();
  const runNext = async (step: ShortStep): Promise<ShortResult> => {
    const stopped = new AbortController();
    const { signal } = stopped;
    try {
      const answered = once(child, 'message', { signal });
      const ended = once(child, 'exit', { signal });
      ended.catch(() => undefined);
      child.send(step);
      const [message] = await Promise.race([answered, ended]);
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('The process ended during a step.');
      // The script of this process sends nothing else.
      return message as ShortResult;
    } finally {
      stopped.abort();
    }
  };
  return {
    run(step) {
      const result = before.then(() => runNext(step));
      before = result.catch(() => undefined);
      return result;
    },
    async end() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
