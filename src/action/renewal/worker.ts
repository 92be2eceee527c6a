import { readFileSync } from 'node:fs';

/** A process, and when it started: an id alone may be another one's by now. */
export interface KnownProcess {
  readonly pid: number;
  /** Undefined where the system does not tell. */
  readonly startedAt: string | undefined;
}

/** proc_pid_stat(5): behind the name, which may have blanks, the state is the first field and the start the 20th. */
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // One that has ended and that nobody has waited for is gone, too.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startOnMac(pid: number): string | undefined {
  try {
    // Loading it takes a while, and no other system needs it.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

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
    // It is there, and somebody else's: EPERM.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
  return startedAt !== undefined && startOf(pid) !== startedAt;
}
