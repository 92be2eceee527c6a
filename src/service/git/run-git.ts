import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { maxTimerMs } from '../../interface/timers.ts';
import { GitError } from './git-error.ts';
import { splitLines } from './git-output.ts';

/** Time limit of some work, and a signal that ends it earlier. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitWork {
  readonly limits: Limits;
  readonly input?: Uint8Array | undefined;
  readonly onErrorLine?: ((line: string) => void) | undefined;
  /** Receives chunks of the output, one after the other. A rejection ends the process. By default, output is kept. */
  readonly onOutput?: ((chunk: Buffer) => Promise<void>) | undefined;
}

type GitOutcome =
  | {
      readonly kind: 'exited';
      readonly status: number;
      readonly output: string;
      readonly errorLines: readonly string[];
    }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' }
  /** The receiver of the output has rejected. */
  | { readonly kind: 'rejected'; readonly error: unknown };

export const withSignal = ({ timeoutMs, signal }: Limits, also: AbortSignal | undefined): Limits => ({
  timeoutMs,
  signal: signal && also ? AbortSignal.any([signal, also]) : (signal ?? also),
});

/** Longer output needs a receiver. */
const maxKeptOutput = 1_024 * 1_024;
const keptErrorLines = 100;
const terminateGrace = 2_000;

/** Runs a program without a shell until it ends or a limit ends it. Leaves no process running. */
export async function runProcess(
  program: string,
  args: readonly string[],
  /** The complete environment: nothing is inherited. */
  environment: NodeJS.ProcessEnv,
  { limits, input, onErrorLine, onOutput }: GitWork,
): Promise<GitOutcome> {
  const { signal } = limits;
  if (signal?.aborted) return { kind: 'aborted' };
  const child = spawn(program, args, {
    env: environment,
    detached: process.platform !== 'win32',
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  lowerPriority(child);

  const group = processGroup(child);
  let stopped: GitOutcome | undefined;
  const stopping = Promise.withResolvers<void>();
  const stop = (reason: GitOutcome): void => {
    stopped ??= reason;
    stopping.resolve();
    group.end();
  };
  const timer = setTimeout(() => stop({ kind: 'timeout' }), Math.min(limits.timeoutMs, maxTimerMs));
  const onAbort = (): void => stop({ kind: 'aborted' });
  signal?.addEventListener('abort', onAbort, { once: true });

  const output: Buffer[] = [];
  let kept = 0;
  async function keep(chunk: Buffer): Promise<void> {
    kept += chunk.length;
    if (kept > maxKeptOutput) throw new GitError('failed', `The output of ${program} ${args[0]} is too long.`);
    output.push(chunk);
  }
  async function readOutput(): Promise<void> {
    for await (const chunk of child.stdout ?? []) {
      if (stopped !== undefined) continue;
      await consume(chunk, onOutput ?? keep).catch((error: unknown) => stop({ kind: 'rejected', error }));
    }
  }
  // It fails if the pipe is destroyed.
  const consumed = readOutput().catch(() => undefined);

  const errorLines: string[] = [];
  const errors = splitLines((line) => {
    errorLines.push(line);
    if (errorLines.length > keptErrorLines) errorLines.shift();
    if (stopped === undefined) onErrorLine?.(line);
  });
  child.stderr?.setEncoding('utf8').on('data', errors.push);

  // git may exit without reading all of its input: its status counts, not the broken pipe.
  child.stdin?.on('error', () => {}).end(input);

  child.on('exit', async () => {
    // Helpers of a killed git process keep running and hold the pipes open.
    group.terminate();
    // The consumer may not have read the last output yet.
    if (onOutput !== undefined) await Promise.race([consumed, stopping.promise]);
    clearTimeout(timer);
    group.end();
  });
  const outcome = await new Promise<GitOutcome>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      resolve({ kind: 'not-started', code: error.code ?? error.message });
    });
    child.on('close', async (code, signal) => {
      errors.end();
      await Promise.race([consumed, stopping.promise]);
      if (stopped !== undefined) resolve(stopped);
      else if (code === null) resolve({ kind: 'killed', signal: signal ?? 'SIGKILL' });
      else resolve({ kind: 'exited', status: code, output: Buffer.concat(output).toString('utf8'), errorLines });
    });
  });
  clearTimeout(timer);
  group.forget();
  signal?.removeEventListener('abort', onAbort);
  return outcome;
}

/** The process, and the helpers that it started. */
function processGroup(child: ChildProcess) {
  let lastResort: NodeJS.Timeout | undefined;
  /** False once nothing is left of the process group, whose id another process may then get. */
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
        // A process that left the group may keep the pipes open, but must not block the caller.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, terminateGrace);
    },
    forget: () => clearTimeout(lastResort),
  };
}

/** Limits how much a slow consumer must handle at once. */
const maxChunkSize = 64 * 1_024;

async function consume(chunk: Buffer, onOutput: (piece: Buffer) => Promise<void>): Promise<void> {
  for (let at = 0; at < chunk.length; at += maxChunkSize) await onOutput(chunk.subarray(at, at + maxChunkSize));
}

/**
 * Ends git and the helpers that it started, which share its process group. Windows has no such groups, so the tree of
 * child processes is ended there. Returns false if none was running.
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

/** git must not delay requests for locks. Its child processes inherit the priority. */
function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, backgroundPriority);
  } catch {
    // The process has already ended.
  }
}
