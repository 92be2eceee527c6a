import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { waitTimeoutMs } from './limits.ts';

/** The end of a process: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

export interface Output {
  /** All of it so far. */
  text(): string;
  /** The first match in the text; rejects if the process ends before it. */
  until<T>(find: (text: string) => T | null | undefined): Promise<T>;
  /** Stops reading. */
  close(): void;
}

interface StartOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string | undefined;
  /** Leaves its input open, so that a test can write to it. */
  readonly hasInput?: boolean;
  /** Gives it a process group of its own. */
  readonly detached?: boolean;
  /** The user and group that run it, if not those of the tests. */
  readonly uid?: number;
  readonly gid?: number;
  /** Ends it with the tests. Default: SIGKILL, which leaves the children of a process running. */
  readonly endSignal?: NodeJS.Signals;
}

const ends = new Set<() => void>();

/** Ends all processes of a failed test, which must not outlive it: the test runner sends SIGTERM to its workers. */
function endAll(): void {
  for (const end of ends) end();
}
process.once('exit', endAll);
process.once('SIGTERM', () => {
  endAll();
  process.kill(process.pid, 'SIGTERM');
});

/** Registers what ends a process or a server with this process at the latest. Returns a function that removes it. */
export function endWithTests(end: () => void): () => void {
  ends.add(end);
  return () => void ends.delete(end);
}

export function startProcess([program = '', ...args]: readonly string[], options: StartOptions) {
  const { hasInput = false, endSignal = 'SIGKILL', ...more } = options;
  const child = spawn(program, args, { ...more, stdio: 'pipe' });
  if (!hasInput) child.stdin.end();
  const forget = endWithTests(() => child.kill(endSignal));
  let hasEnded = false;
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', (error) => {
      hasEnded = true;
      reject(error);
    });
    child.once('close', (code, signal) => {
      hasEnded = true;
      forget();
      // One of the two is set: a process ends by itself or by a signal.
      resolve(code ?? signal ?? 'SIGKILL');
    });
  });
  ended.catch(() => undefined);

  async function inTime<T>(work: Promise<T>, failure: string): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`${failure}: ${state()}`)), waitTimeoutMs);
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  function collect(stream: Readable): Output {
    let text = '';
    const awaited = new Set<() => void>();
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      for (const look of awaited) look();
    });
    return {
      text: () => text,
      close: () => void stream.destroy(),
      until<T>(find: (text: string) => T | null | undefined) {
        const found = new Promise<T>((resolve, reject) => {
          const look = (): void => {
            const one = find(text);
            if (one === undefined || one === null) return;
            awaited.delete(look);
            resolve(one);
          };
          awaited.add(look);
          look();
          ended.then((ending) => reject(new Error(`The process ended with ${ending}: ${state()}`)), reject);
        });
        return inTime(found, 'The process did not write the expected text');
      },
    };
  }

  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const state = (): string => `${args.join(' ')}\nstdout: ${stdout.text()}\nstderr: ${stderr.text()}`;
  return {
    pid: child.pid ?? 0,
    stdin: child.stdin,
    hasEnded: () => hasEnded,
    /** Rejects if it takes longer than the limit. */
    ended: () => inTime(ended, 'The process did not end'),
    stdout,
    stderr,
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
  };
}
