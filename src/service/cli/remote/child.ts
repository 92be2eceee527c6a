import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { sleep, steadyClock } from '../../../client/client.ts';
import { type Duration, milliseconds } from '../../../interface/duration.ts';

/** The signals that are passed on. Node cannot catch SIGKILL and SIGSTOP. */
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Calls the listener for each signal. Returns a function that restores the default handling. */
export function onSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  for (const name of forwarded) process.on(name, listener);
  return () => {
    for (const name of forwarded) process.off(name, listener);
  };
}

export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

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
  tell: (line: string) => void,
) {
  const child = spawn(program, args, {
    env: { ...environment, LOCK_PIPE: String(pipeFd) },
    // The system closes the pipe when this process ends, even by SIGKILL.
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    detached: hasGroups,
  });
  // As requested: the stream of a `pipe` is a duplex.
  const pipe = child.stdio[pipeFd] as Duplex | undefined;
  pipe?.on('error', () => undefined);
  pipe?.resume();
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : exitCodeOf(signal)));
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      tell(`Could not start ${program}: ${error.message}`);
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
    /** Closes the pipe of the command: its locks are no longer kept. */
    closePipe: () => pipe?.destroy(),
    /** Ends all processes of the group: SIGTERM, and SIGKILL after the grace period. */
    async stop(grace: Duration): Promise<void> {
      const deadline = steadyClock() + milliseconds(grace);
      send('SIGTERM');
      // A stopped process handles SIGTERM only after it continues.
      send('SIGCONT');
      while (send(0) && steadyClock() < deadline) await sleep(pollMs);
      send('SIGKILL');
    },
  };
}
