import { readdirSync, readFileSync } from 'node:fs';

/** Finds the processes that a job has left behind as the runner does: by an environment variable. Linux only. */
export function leftProcesses(trackingId: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return variables.includes(`RUNNER_TRACKING_ID=${trackingId}`);
      } catch {
        // The process has ended, or belongs to another user.
        return false;
      }
    })
    .map(Number);
}

/** The id and the command line. */
export function describeProcess(pid: number): string {
  try {
    return `${pid} (${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()})`;
  } catch {
    return `${pid} (ended)`;
  }
}

/** actions/runner, `JobExtension.cs`, `FinalizeJob`: ends them after the last post-step. */
export function endProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has just ended.
    }
  }
}
