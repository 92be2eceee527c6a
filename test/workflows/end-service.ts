import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Job } from '../support/runner/job.ts';

/** Looks for a process like the job does. A killed process exists for a moment longer. */
function isThere(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).length > 0;
  } catch {
    return false;
  }
}

/** Ends the service that `.ci/start-service` started in a job, as the runner does with what a job leaves behind. */
export async function endService({ folders }: Job): Promise<void> {
  const pid = Number(await readFile(join(folders.temp, 'workspace-service.pid'), 'utf8').catch(() => '0'));
  if (pid === 0) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
  await expect.poll(() => isThere(pid)).toBe(false);
}
