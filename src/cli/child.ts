import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { sleep } from '../client/time.ts';
import { CommandError } from '../command/command.ts';
import { exitCodeOf } from '../command/io.ts';
import { errorCode, startErrorText } from '../interface/system-errors.ts';

/** Signals to forward. Node cannot catch SIGKILL and SIGSTOP. */
export const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** The file descriptor of the pipe in the command. */
const pipeFd = 3;

/** Windows has no process groups. */
const hasGroups = process.platform !== 'win32';

const pollMs = 50;

export type Child = ReturnType<typeof startChild>;

/**
 * Starts a command with this process's standard streams, in its own session and process group, so that a signal reaches
 * all of its processes. In a terminal, it can read standard input, but cannot open /dev/tty.
 */
export function startChild(
  [program = '', ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
  report: (line: string) => void,
) {
  const couldNotStart = (error: unknown): string => `Could not start ${program}: ${startErrorText(error)}.`;
  let child: ReturnType<typeof spawn>;
  try {
    child = spawn(program, args, {
      env: { ...environment, LOCK_PIPE: String(pipeFd) },
      // The system closes the pipe when this process ends, even after a SIGKILL.
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      detached: hasGroups,
    });
  } catch (error) {
    // Only ENOENT, EACCES and a few other errors arrive as events.
    throw new CommandError(couldNotStart(error), 126);
  }
  // With `pipe`, the stream is a socket.
  const pipe = child.stdio[pipeFd] as Socket | undefined;
  pipe?.on('error', () => undefined);
  // A process in a session of its own may keep the pipe open. Nothing waits for that process.
  pipe?.resume().unref();
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : exitCodeOf(signal)));
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      report(couldNotStart(error));
      resolve(errorCode(error) === 'ENOENT' ? 127 : 126);
    });
  });
  // Our end stays open until the command has ended, and all processes that inherited the pipe.
  void ended.then(() => pipe?.end());

  /** False if there is no such process. */
  function send(signal: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false;
    try {
      return process.kill(hasGroups ? -child.pid : child.pid, signal);
    } catch (error) {
      // EPERM: the process is running, but belongs to another user.
      return errorCode(error) === 'EPERM';
    }
  }

  /** Whether processes that the command left behind are still running. */
  const hasLeft = (): boolean => hasGroups && send(0);

  /** Ends all processes of the group with SIGTERM, and with SIGKILL after the grace period. */
  async function stop(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    send('SIGTERM');
    // A stopped process handles SIGTERM only when it continues.
    send('SIGCONT');
    for (let left = graceMs; left > 0 && send(0); left = deadline - performance.now())
      await sleep(Math.min(pollMs, left));
    send('SIGKILL');
  }

  return {
    /** The exit code when the command has ended: 127 if it does not exist, 126 if it cannot be run. */
    ended,
    forward: (signal: NodeJS.Signals): void => void send(signal),
    /** Waits for processes that the command left behind, and ends them after the grace period. */
    async endRest(graceMs: number): Promise<void> {
      const deadline = performance.now() + graceMs;
      if (hasLeft()) await sleep(pollMs);
      if (!hasLeft()) return;
      report('The command has ended, but processes that it started have not. Waiting for --grace, then ending them.');
      while (hasLeft() && performance.now() < deadline) await sleep(pollMs);
      if (hasLeft()) await stop(graceMs);
    },
    /** Closes the pipe of the command, because its locks are no longer renewed. */
    closePipe: () => pipe?.end(),
    stop,
  };
}
