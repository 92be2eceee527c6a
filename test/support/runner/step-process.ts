import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface ProcessEnd {
  /** 128 plus the number of the signal for a process that a signal has ended, as in .NET. */
  readonly code: number;
  readonly signal?: NodeJS.Signals;
}

export type StepProcess = ReturnType<typeof controlsOf>;

export type Command = readonly [program: string, ...values: readonly string[]];

export interface StepProcessOptions {
  /** The program and its arguments. */
  readonly command: Command;
  readonly environment: NodeJS.ProcessEnv;
  readonly workingFolder: string;
  /** How many times longer the runner waits between the signals of a cancellation. */
  readonly patience: number;
  readonly onLine: (line: string) => void;
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

/** actions/runner, `ProcessInvoker.cs`: from SIGINT to SIGTERM, and from there to SIGKILL. */
const [sigtermAfterMs, sigkillAfterMs] = [7500, 2500];

/** The same: from the end of the process to the end of reading, if a child process still holds its output open. */
const drainMs = 5000;

/** The controls of a step that runs in this process, and has ended when its output was read. */
export function controlsOf(child: ChildProcess, ended: Promise<ProcessEnd>, patience: number) {
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
  };
  ended.then(end, end);

  const endsWithin = async (ms: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms * patience);
    return Promise.race([promise, ended.then(() => true)]).finally(() => clearTimeout(timer));
  };

  const signalsSent: NodeJS.Signals[] = [];
  const send = (signal: NodeJS.Signals): void => {
    if (!hasEnded && child.kill(signal)) signalsSent.push(signal);
  };

  return {
    pid: child.pid ?? 0,
    ended,
    /** The signals that `cancel` has sent so far. */
    signalsSent,
    /**
     * Ends the process as the runner does: each signal to this process only, never to its children. On Windows the
     * runner sends Ctrl+C and Ctrl+Break instead, which reach the whole console, and finally ends the process tree;
     * that is not modeled.
     */
    async cancel(): Promise<void> {
      send('SIGINT');
      if (await endsWithin(sigtermAfterMs)) return;
      send('SIGTERM');
      if (!(await endsWithin(sigkillAfterMs))) send('SIGKILL');
    },
    /** Ends the process at once, like a machine that is out of memory. */
    kill: () => void (hasEnded || child.kill('SIGKILL')),
  };
}

/** Starts a program. Throws if the operating system refuses, such as for an environment that is too large. */
export function startStepProcess(options: StepProcessOptions): StepProcess {
  const { command, environment, workingFolder, patience, onLine } = options;
  const [program, ...values] = command;
  const child = spawn(program, values, { cwd: workingFolder, env: environment, stdio: 'pipe' });
  track(child);
  // No one can answer a prompt: the runner closes the input.
  child.stdin.end();

  const splitters = [child.stdout, child.stderr].map((stream) => {
    const splitter = splitLines(onLine);
    stream.setEncoding('utf8').on('data', (text: string) => splitter.push(text));
    return splitter;
  });

  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('error', reject);
    child.once('exit', () => {
      drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, drainMs);
    });
    child.once('close', (code, signal) => {
      clearTimeout(drain);
      for (const splitter of splitters) splitter.end();
      resolve(endOf(code, signal));
    });
  });
  return controlsOf(child, ended, patience);
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
