import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { sleep } from '../client/time.ts';
import { CommandError } from '../command/command.ts';
import { exitCodeOf } from '../command/io.ts';
import { errorCode, startErrorText } from '../interface/system-errors.ts';

/** The signals that are passed on. Node cannot catch SIGKILL and SIGSTOP. */
export const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** The file descriptor of the pipe in the command. */
const pipeFd = 3;

/** Windows has no process groups. */
const hasGroups = process.platform !== 'win32';

const pollMs = 50;

/** Time limit of `ps`, which hangs on some broken mounts: nothing else happens meanwhile. */
const lookUpMs = 500;

export type Child = ReturnType<typeof startChild>;

/**
 * Starts a command with this process's standard streams. At a terminal, it stays in the session and in the group of this
 * process, because it could not open the terminal, or read from it, in others. Elsewhere, it gets a group of its own.
 */
export function startChild(
  [program = '', ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
  report: (line: string) => void,
) {
  const atTerminal = hasTerminal();
  const couldNotStart = (error: unknown): string => `Could not start ${program}: ${startErrorText(error)}.`;
  let child: ReturnType<typeof spawn>;
  try {
    child = spawn(program, args, {
      env: { ...environment, LOCK_PIPE: String(pipeFd) },
      // The system closes the pipe when this process ends, even by SIGKILL.
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      detached: hasGroups && !atTerminal,
    });
  } catch (error) {
    // Only ENOENT, EACCES and a few others arrive as events.
    throw new CommandError(couldNotStart(error), 126);
  }
  // With `pipe`, the stream is a socket.
  const pipe = child.stdio[pipeFd] as Socket | undefined;
  pipe?.on('error', () => undefined);
  // A process in a session of its own may keep it open. Nobody waits for that one.
  pipe?.resume().unref();
  let pipeClosed = false;
  pipe?.once('end', () => {
    pipeClosed = true;
  });
  /** At a terminal: processes of the command. */
  const known = new Set(child.pid === undefined ? [] : [child.pid]);
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : exitCodeOf(signal)));
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      report(couldNotStart(error));
      resolve(errorCode(error) === 'ENOENT' ? 127 : 126);
    });
  });
  // Its own end stays open until every process that has inherited the pipe has ended.
  void ended.then((): void => {
    pipe?.end();
    if (child.pid !== undefined) known.delete(child.pid);
  });

  /** False if there is no such process. */
  function send(signal: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false;
    if (!atTerminal) return sendTo(hasGroups ? -child.pid : child.pid, signal);
    // Another process may get the id of one that has ended.
    for (const pid of [...known]) if (!sendTo(pid, signal)) known.delete(pid);
    return known.size > 0;
  }

  function findDescendants(): void {
    if (atTerminal && known.size > 0) for (const pid of descendantsOf([...known])) known.add(pid);
  }

  /** Whether processes that the command has left behind are running. */
  const hasLeft = (): boolean => (atTerminal ? !pipeClosed : hasGroups && send(0));

  return {
    /** The exit code once the command has ended: 127 if it does not exist, 126 if it cannot be run. */
    ended,
    /** A terminal sends Ctrl-C and Ctrl-\\ to the command itself. */
    forward(signal: NodeJS.Signals): void {
      if (!atTerminal) send(signal);
      else if (signal !== 'SIGINT' && signal !== 'SIGQUIT' && child.pid !== undefined) sendTo(child.pid, signal);
    },
    /** Undoes Ctrl-Z, which stops the command as well if both are in the group of the terminal. */
    resume: (): void => void (atTerminal && sendTo(0, 'SIGCONT')),
    /** Waits until the processes that the command has left behind have ended, and ends them after the grace period. */
    async endRest(graceMs: number): Promise<void> {
      const deadline = performance.now() + graceMs;
      if (hasLeft()) await sleep(pollMs);
      if (!hasLeft()) return;
      report('The command has ended, but processes that it has started have not. Waiting for them.');
      while (hasLeft() && performance.now() < deadline) await sleep(pollMs);
      if (!hasLeft()) return;
      if (atTerminal) report('They are still running, without the locks.');
      else await this.stop(graceMs);
    },
    /** Closes the pipe of the command: its locks are no longer renewed. */
    closePipe: () => pipe?.end(),
    /** Ends all processes of the group: SIGTERM, and SIGKILL after the grace period. */
    async stop(graceMs: number): Promise<void> {
      const deadline = performance.now() + graceMs - (atTerminal ? lookUpMs : 0);
      findDescendants();
      send('SIGTERM');
      // A stopped process handles SIGTERM only after it continues.
      send('SIGCONT');
      for (let left = deadline - performance.now(); left > 0 && send(0); left = deadline - performance.now())
        await sleep(Math.min(pollMs, left));
      findDescendants();
      send('SIGKILL');
    },
  };
}

function sendTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // A process that belongs to another user is still running.
    return errorCode(error) === 'EPERM';
  }
}

function hasTerminal(): boolean {
  if (!hasGroups) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

function descendantsOf(pids: readonly number[]): readonly number[] {
  const options = { encoding: 'utf8', timeout: lookUpMs, killSignal: 'SIGKILL' } as const;
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], options);
  const children = Map.groupBy(
    (stdout ?? '').split('\n').map((line) => line.trim().split(/\s+/).map(Number)),
    ([, parent]) => parent,
  );
  const below = (parent: number): readonly number[] =>
    (children.get(parent) ?? []).flatMap(([each = 0]) => [each, ...below(each)]);
  return pids.flatMap(below);
}
