import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { formatElapsed } from '../../interface/format.ts';
import { systemErrorText } from '../../interface/system-errors.ts';
import { maxTimerMs } from '../../interface/timers.ts';
import { GitError } from './git-error.ts';
import { splitLines, summarizeErrors } from './git-output.ts';

/** Time limit of the work, and a signal that ends it earlier. The signal's reason is thrown if it is a GitError. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitWork {
  readonly program?: 'git' | 'git-lfs';
  /** Completes the sentence "git could not …". */
  readonly purpose: string;
  /** Removes credentials from a line of the error output. */
  readonly redact?: (line: string) => string;
  readonly limits: Limits;
  readonly input?: Uint8Array | undefined;
  readonly onErrorLine?: ((line: string) => void) | undefined;
  /** Receives the output in chunks, one at a time. A rejection ends the process. Without it, the output is returned. */
  readonly onOutput?: ((chunk: Buffer) => Promise<void>) | undefined;
}

export const withSignal = ({ timeoutMs, signal }: Limits, also: AbortSignal | undefined): Limits => ({
  timeoutMs,
  signal: signal && also ? AbortSignal.any([signal, also]) : (signal ?? also),
});

/** Longer output needs `onOutput`. */
const maxKeptOutput = 1_024 * 1_024;
const keptErrorLines = 100;
const terminateGrace = 2_000;

/**
 * Runs git without a shell until it ends or reaches a limit. Returns its output, or throws a GitError. Leaves no
 * process running.
 */
export async function runGit(
  args: readonly string[],
  /** The complete environment: nothing is inherited. */
  environment: NodeJS.ProcessEnv,
  { program = 'git', purpose, redact = String, limits, input, onErrorLine, onOutput }: GitWork,
): Promise<string> {
  const { signal } = limits;
  const failed = (reason: string): GitError => new GitError('failed', `${program} could not ${purpose}: ${reason}`);
  const aborted = (): GitError =>
    signal?.reason instanceof GitError
      ? signal.reason
      : new GitError('aborted', `${program} was stopped before it could ${purpose}.`);
  if (signal?.aborted) throw aborted();
  const child = spawn(program, args, {
    env: environment,
    detached: process.platform !== 'win32',
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  lowerPriority(child);

  const group = processGroup(child);
  let isStopped = false;
  const stopping = Promise.withResolvers<never>();
  stopping.promise.catch(() => undefined);
  const stop = (reason: unknown): void => {
    isStopped = true;
    stopping.reject(reason);
    group.end();
  };
  const onTimeout = (): void => {
    const reason = `within ${formatElapsed(limits.timeoutMs)} and was stopped. Check that the remote responds and is fast enough.`;
    stop(new GitError('timeout', `${program} did not ${purpose} ${reason}`));
  };
  const timer = setTimeout(onTimeout, Math.min(limits.timeoutMs, maxTimerMs));
  const onAbort = (): void => stop(aborted());
  signal?.addEventListener('abort', onAbort, { once: true });

  const output: Buffer[] = [];
  let kept = 0;
  async function keep(chunk: Buffer): Promise<void> {
    kept += chunk.length;
    if (kept > maxKeptOutput) throw new GitError('failed', `The output of ${program} ${args[0]} is too long.`);
    output.push(chunk);
  }
  const receive = async (chunk: Buffer): Promise<void> => (onOutput ?? keep)(chunk);
  async function readOutput(): Promise<void> {
    for await (const chunk of child.stdout ?? []) {
      if (!isStopped) await receive(chunk).catch(stop);
    }
  }
  // Reading fails if the pipe is destroyed: see processGroup().
  const read = readOutput().catch(() => undefined);
  /** Rejects if the process was stopped, even after its output has ended. */
  const consumed = (): Promise<void> => Promise.race([stopping.promise, read]);

  const errorLines: string[] = [];
  const errors = splitLines((line) => {
    errorLines.push(line);
    if (errorLines.length > keptErrorLines) errorLines.shift();
    if (!isStopped) onErrorLine?.(line);
  });
  child.stderr?.setEncoding('utf8').on('data', errors.push);

  // git may exit without reading all of its input. Then its exit status counts, not the broken pipe.
  child.stdin?.on('error', () => {}).end(input);

  child.on('exit', async () => {
    // Helpers of a killed git keep running, and hold the pipes open.
    group.terminate();
    // The consumer may not have read the end of the output yet.
    if (onOutput !== undefined) await consumed().catch(() => undefined);
    clearTimeout(timer);
    group.end();
  });
  try {
    const { code, killedBy } = await new Promise<{ code: number | null; killedBy: string | null }>((resolve, reject) =>
      child.on('error', reject).on('close', (code, killedBy) => resolve({ code, killedBy })),
    ).catch((error: NodeJS.ErrnoException) => {
      throw notStarted(program, purpose, error);
    });
    errors.end();
    await consumed();
    if (code === 0) return Buffer.concat(output).toString('utf8');
    throw failed(
      code === null ? `it was killed with ${killedBy}.` : summarizeErrors(errorLines.map(redact)) || `status ${code}.`,
    );
  } finally {
    clearTimeout(timer);
    group.forget();
    signal?.removeEventListener('abort', onAbort);
  }
}

function notStarted(program: 'git' | 'git-lfs', purpose: string, error: NodeJS.ErrnoException): GitError {
  const begin = `${program} could not ${purpose}: `;
  if (error.code !== 'ENOENT') {
    const reason = systemErrorText(error.code ?? '') ?? error.code ?? error.message;
    return new GitError('failed', `${begin}it could not be started: ${reason}.`);
  }
  const advice = `Install ${oldestVersions[program]} or newer.`;
  return new GitError('not-installed', `${begin}${program} is not on the PATH of the service. ${advice}`);
}

const oldestVersions = { git: 'git 2.39', 'git-lfs': 'git-lfs 3.3' };

/** The process and the helpers that it started. */
function processGroup(child: ChildProcess) {
  let lastResort: NodeJS.Timeout | undefined;
  /** False once the process group is empty: another process may then get its id. */
  let isRunning = true;
  const signalAll = (name: 'SIGTERM' | 'SIGKILL'): void => {
    if (isRunning) isRunning = end(child, name);
  };
  return {
    terminate: () => signalAll('SIGTERM'),
    end(): void {
      if (lastResort !== undefined) return;
      signalAll('SIGTERM');
      lastResort = setTimeout(() => {
        signalAll('SIGKILL');
        // A process that left the group can hold the pipes open, but must not block the caller.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, terminateGrace);
    },
    forget: () => clearTimeout(lastResort),
  };
}

/**
 * Ends git and its helpers, which share its process group. Windows has no process groups, so the tree of child
 * processes is ended there. Returns false if none was running.
 */
function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (child.pid === undefined) return false;
  if (process.platform === 'win32') {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () =>
      child.kill(),
    );
    return true;
  }
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

const backgroundPriority = 10;

/** git must not delay requests for locks. Its child processes inherit the low priority. */
function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, backgroundPriority);
  } catch {
    // The process has already ended.
  }
}
