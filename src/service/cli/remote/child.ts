import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { sleep, steadyClock } from '../../../client/client.ts';
import { CommandError } from '../definition/command.ts';
import { startErrorText } from '../definition/system-errors.ts';
import { exitCodeOf } from '../output/process-io.ts';

/** The signals that are passed on. Node cannot catch SIGKILL and SIGSTOP. */
export const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** The file descriptor of the pipe in the command. */
const pipeFd = 3;

/** Windows has no process groups. */
const hasGroups = process.platform !== 'win32';

const pollMs = 50;

export type Child = ReturnType<typeof startChild>;

/** Starts a command in a process group of its own, with this process's standard streams. */
export function startChild(
  [program = '', ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
  report: (line: string) => void,
) {
  const couldNotStart = (error: unknown): string => `Could not start ${program}: ${startErrorText(error)}.`;
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      env: { ...environment, LOCK_PIPE: String(pipeFd) },
      // The system closes the pipe when this process ends, even by SIGKILL.
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      detached: hasGroups,
    });
  } catch (error) {
    // Only ENOENT, EACCES and a few others arrive as events.
    throw new CommandError(couldNotStart(error), 126);
  }
  // As requested: the stream of a `pipe` is a duplex.
  const pipe = child.stdio[pipeFd] as Duplex | undefined;
  pipe?.on('error', () => undefined);
  pipe?.resume();
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : exitCodeOf(signal)));
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      report(couldNotStart(error));
      resolve('code' in error && error.code === 'ENOENT' ? 127 : 126);
    });
  });
  void ended.then(() => pipe?.destroy());

  /** False if there is no such process. */
  function send(signal: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false;
    try {
      return process.kill(hasGroups ? -child.pid : child.pid, signal);
    } catch (error) {
      // A process of the group that belongs to another user is still running.
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  }

  return {
    /** The exit code once the command has ended: 127 if it does not exist, 126 if it cannot be run. */
    ended,
    signal: send,
    /** Closes the pipe of the command: its locks are no longer renewed. */
    closePipe: () => pipe?.destroy(),
    /** Ends all processes of the group: SIGTERM, and SIGKILL after the grace period. */
    async stop(graceMs: number): Promise<void> {
      const deadline = steadyClock() + graceMs;
      send('SIGTERM');
      // A stopped process handles SIGTERM only after it continues.
      send('SIGCONT');
      for (let left = graceMs; left > 0 && send(0); left = deadline - steadyClock())
        await sleep(Math.min(pollMs, left));
      send('SIGKILL');
    },
  };
}
