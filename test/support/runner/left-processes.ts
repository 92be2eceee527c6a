import { readdirSync, readFileSync } from 'node:fs';

/** As the runner finds what a job has started and left behind: by a variable of its environment. Linux only. */
export function leftProcesses(trackingId: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return variables.includes(`RUNNER_TRACKING_ID=${trackingId}`);
      } catch {
        // It has ended, or is somebody else's.
        return false;
      }
    })
    .map(Number);
}

/** actions/runner, `JobExtension.cs`, `FinalizeJob`: it ends them after the last post-step. */
export function endProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
}
