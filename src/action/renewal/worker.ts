import { readFileSync } from 'node:fs';

/** A process, and when it started: an id alone may be another one's by now. */
export interface KnownProcess {
  readonly pid: number;
  /** Undefined where the system does not tell. */
  readonly startedAt: string | undefined;
}

/** One that nobody has waited for yet. */
const ended = 'ended';

/** proc_pid_stat(5): behind the name, which may have blanks, the state is the first field and the start the 20th. */
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? ended : fields[19];
  } catch {
    return undefined;
  }
}

function startOnMac(pid: number): string | undefined {
  try {
    // Loading it takes a while, and no other system needs it.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    // The time is written for the language and the zone of who asks, and these differ between a step and what it starts.
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Undefined where it cannot be seen, or not now. */
function startOf(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux':
      return startOnLinux(pid);
    case 'darwin':
      return startOnMac(pid);
    default:
      return undefined;
  }
}

/** Undefined where it cannot be seen: in a container, the parent of a step is outside, and has the id 0. */
export const lookAt = (pid: number): KnownProcess | undefined =>
  pid > 0 ? { pid, startedAt: startOf(pid) } : undefined;

export function isGone({ pid, startedAt }: KnownProcess): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true;
    // It is there, and of another user: EPERM.
  }
  const start = startOf(pid);
  return start === ended || (startedAt !== undefined && start !== undefined && start !== startedAt);
}
