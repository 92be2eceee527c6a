import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { maxTimerMs } from '../../interface/timers.ts';
import { intoLines } from './git-output.ts';

/** Time limit of some work, and a signal that ends it earlier. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitWork {
  readonly limits: Limits;
  /** Standard input of git; empty by default. */
  readonly input?: Uint8Array | undefined;
  readonly onErrorLine?: ((line: string) => void) | undefined;
  /**
   * Receives the output in chunks as it arrives. Reading continues when the promise settles; after a rejection, the
   * caller must end the work.
   */
  readonly onOutput?: ((chunk: Buffer) => Promise<void>) | undefined;
  /** Runs with low priority, so that it does not delay other work. */
  readonly inBackground?: boolean | undefined;
}

export type GitOutcome =
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
  | { readonly kind: 'too-much-output' };

/** The same limits with one more signal that ends the work. */
export const endedBy = ({ timeoutMs, signal }: Limits, also: AbortSignal | undefined): Limits => ({
  timeoutMs,
  signal: signal && also ? AbortSignal.any([signal, also]) : (signal ?? also),
});

const maxOutputSize = 64 * 1_024 * 1_024;
const keptErrorLines = 100;
const terminateGrace = 2_000;

/** Runs a program without a shell until it ends or a limit ends it. Leaves no process running. */
export function runProcess(
  program: string,
  args: readonly string[],
  /** The complete environment: nothing is inherited. */
  environment: NodeJS.ProcessEnv,
  { limits, input, onErrorLine, onOutput, inBackground }: GitWork,
): Promise<GitOutcome> {
  const { signal } = limits;
  if (signal?.aborted) return Promise.resolve({ kind: 'aborted' });

  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: environment,
      detached: process.platform !== 'win32',
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    if (inBackground) giveWay(child);

    let stopped: GitOutcome | undefined;
    let lastResort: NodeJS.Timeout | undefined;
    const endAll = (): void => {
      if (lastResort !== undefined) return;
      end(child, 'SIGTERM');
      lastResort = setTimeout(() => {
        end(child, 'SIGKILL');
        // A process that left the group may keep the pipes open, but must not block the caller.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, terminateGrace);
    };
    const stop = (reason: GitOutcome): void => {
      stopped ??= reason;
      endAll();
    };

    const timer = setTimeout(() => stop({ kind: 'timeout' }), Math.min(limits.timeoutMs, maxTimerMs));
    const onAbort = (): void => stop({ kind: 'aborted' });
    signal?.addEventListener('abort', onAbort, { once: true });
    const finish = (outcome: GitOutcome): void => {
      clearTimeout(timer);
      clearTimeout(lastResort);
      signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
    };

    const output: Buffer[] = [];
    let outputSize = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      if (onOutput !== undefined) {
        child.stdout?.pause();
        const goOn = () => child.stdout?.resume();
        if (stopped === undefined) onOutput(chunk).then(goOn, goOn);
        else goOn();
        return;
      }
      outputSize += chunk.length;
      if (outputSize > maxOutputSize) stop({ kind: 'too-much-output' });
      else output.push(chunk);
    });

    const errorLines: string[] = [];
    const errors = intoLines((line) => {
      errorLines.push(line);
      if (errorLines.length > keptErrorLines) errorLines.shift();
      if (stopped === undefined) onErrorLine?.(line);
    });
    child.stderr?.setEncoding('utf8').on('data', errors.push);

    // git may exit without reading all of its input: its status counts, not the broken pipe.
    child.stdin?.on('error', () => {}).end(input);

    child.on('error', (error: NodeJS.ErrnoException) => {
      finish({ kind: 'not-started', code: error.code ?? error.message });
    });
    // Helpers of a killed git process keep running and hold the pipes open.
    child.on('exit', () => {
      const release = (): void => {
        clearTimeout(timer);
        endAll();
      };
      if (onOutput === undefined || stopped !== undefined || child.stdout?.readableEnded) return release();
      // The consumer may not have read the last output yet.
      child.stdout?.once('end', release);
      end(child, 'SIGTERM');
    });
    child.on('close', (code, endedBy) => {
      errors.end();
      if (stopped !== undefined) finish(stopped);
      else if (code === null) finish({ kind: 'killed', signal: endedBy ?? 'SIGKILL' });
      else finish({ kind: 'exited', status: code, output: Buffer.concat(output).toString('utf8'), errorLines });
    });
  });
}

/**
 * Ends git and the helpers that it started, which share its process group. Windows has no such groups, so the tree of
 * child processes is ended there.
 */
function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    if (child.exitCode !== null || child.signalCode !== null) return;
    spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () =>
      child.kill(),
    );
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has already ended.
  }
}

const backgroundPriority = 10;

/** Lowers the priority. Child processes inherit it. */
function giveWay({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, backgroundPriority);
  } catch {
    // The process has already ended.
  }
}
