import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { WrittenLine } from './step-log.ts';

/** The delays of the runner. */
export interface RunnerDelays {
  /** From SIGINT to SIGTERM. */
  readonly sigtermAfterMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly sigkillAfterMs: number;
  /** From the end of the process to the end of reading, if a child process still holds its output open. */
  readonly drainMs: number;
}

/** actions/runner, `ProcessInvoker.cs`. */
export const runnerDelays: RunnerDelays = { sigtermAfterMs: 7500, sigkillAfterMs: 2500, drainMs: 5000 };

export interface ProcessEnd {
  /** 128 plus the number of the signal for a process that a signal has ended, as in .NET. */
  readonly code: number;
  readonly signal?: NodeJS.Signals;
}

export interface StepProcess {
  readonly pid: number;
  /** Resolves when the process has ended and its output was read. */
  readonly ended: Promise<ProcessEnd>;
  /** The signals that `cancel` has sent so far. */
  readonly signalsSent: readonly NodeJS.Signals[];
  /**
   * Ends the process as the runner does: SIGINT, SIGTERM, SIGKILL, each to this process only, never to its children. On
   * Windows the runner sends Ctrl+C and Ctrl+Break instead, which reach the whole console, and finally ends the process
   * tree; that is not modeled.
   */
  cancel(): Promise<void>;
  /** Ends the process at once, like a machine that is out of memory. */
  kill(): void;
}

export type Command = readonly [program: string, ...values: readonly string[]];

export interface StepProcessOptions {
  /** The program and its arguments. */
  readonly command: Command;
  readonly environment: NodeJS.ProcessEnv;
  readonly workingFolder: string;
  readonly delays: RunnerDelays;
  readonly onLine: (line: WrittenLine) => void;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Ensures that the process does not outlive this one. */
export function track(child: ChildProcess): void {
  running.add(child);
  child.once('close', () => running.delete(child));
}

export const endOf = (code: number | null, signal: NodeJS.Signals | null): ProcessEnd =>
  signal === null ? { code: code ?? -1 } : { code: 128 + constants.signals[signal], signal };

/** The controls of a step that runs in this process. */
export function controlsOf(child: ChildProcess, ended: Promise<ProcessEnd>, delays: RunnerDelays): StepProcess {
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
  };
  ended.then(end, end);

  const endsWithin = async (ms: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    try {
      return await Promise.race([promise, ended.then(() => true)]);
    } finally {
      clearTimeout(timer);
    }
  };

  const signalsSent: NodeJS.Signals[] = [];
  const send = (signal: NodeJS.Signals): void => {
    if (!hasEnded && child.kill(signal)) signalsSent.push(signal);
  };

  let cancelling: Promise<void> | undefined;
  const cancel = async (): Promise<void> => {
    send('SIGINT');
    if (await endsWithin(delays.sigtermAfterMs)) return;
    send('SIGTERM');
    if (await endsWithin(delays.sigkillAfterMs)) return;
    send('SIGKILL');
  };

  return {
    pid: child.pid ?? 0,
    ended,
    signalsSent,
    cancel() {
      cancelling ??= cancel();
      return cancelling;
    },
    kill: () => void (hasEnded || child.kill('SIGKILL')),
  };
}

/** Starts a program. Throws if the operating system refuses, such as for an environment that is too large. */
export function startStepProcess(options: StepProcessOptions): StepProcess {
  const { command, environment, workingFolder, delays, onLine } = options;
  const [program, ...values] = command;
  const child = spawn(program, values, { cwd: workingFolder, env: environment, stdio: 'pipe' });
  track(child);
  // No one can answer a prompt: the runner closes the input.
  child.stdin.end();

  const splitters = (['stdout', 'stderr'] as const).map((stream) => {
    const splitter = splitLines((text) => onLine({ stream, text }));
    child[stream].setEncoding('utf8').on('data', (text: string) => splitter.push(text));
    return splitter;
  });

  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('error', reject);
    child.once('exit', () => {
      drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, delays.drainMs);
    });
    child.once('close', (code, signal) => {
      clearTimeout(drain);
      for (const splitter of splitters) splitter.end();
      resolve(endOf(code, signal));
    });
  });
  return controlsOf(child, ended, delays);
}

/**
 * Splits a stream into lines like .NET's `StreamReader.ReadLine`, with which actions/runner reads its processes
 * (`ProcessInvoker.cs`): a line ends at LF, at CR LF, and at a CR alone. So text after a lone CR can start a workflow
 * command.
 */
export function splitLines(onLine: (line: string) => void) {
  let rest = '';
  let afterReturn = false;
  return {
    push(text: string): void {
      const fresh = afterReturn && text.startsWith('\n') ? text.slice(1) : text;
      if (text !== '') afterReturn = text.endsWith('\r');
      const parts = (rest + fresh).split(/\r\n|\r|\n/);
      rest = parts.pop() ?? '';
      for (const line of parts) onLine(line);
    },
    /** Passes on the rest, when no more text follows. */
    end(): void {
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
