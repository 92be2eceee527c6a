import { setTimeout as sleep } from 'node:timers/promises';
import { medianOf } from '../../bench/statistics.ts';
import { measured } from '../support/measured.ts';
import { type Job, openJob } from '../support/runner/job.ts';
import { endProcesses } from '../support/runner/left-processes.ts';

/** Jobs that contend for a path: one that holds it, and the next in line. */

/** The service as a job finds it. */
export interface Desk {
  readonly baseUrl: string;
  readonly token: string;
  readonly workspace: string;
}

export interface Ttl {
  readonly text: string;
  readonly ms: number;
}

let jobs = 5_000;

/** Far more than the longest test takes. */
const patienceMs = 1_800_000;

export function jobAt({ baseUrl, token, workspace }: Desk): Promise<Job> {
  jobs += 1;
  return openJob({
    run: { runId: String(jobs) },
    secrets: [token],
    timeoutMs: patienceMs,
    env: { WORKSPACE_BASE_URL: baseUrl, WORKSPACE_TOKEN: token, WORKSPACE_ID: workspace },
  });
}

/** Ends a job with all that it has started, without its post-steps. */
export async function vanish(job: Job): Promise<void> {
  for (let left = job.leftProcesses(); left.length > 0; left = job.leftProcesses()) {
    endProcesses(left);
    // A process takes a moment to end.
    await sleep(10);
  }
  await job.end();
}

const locking = (path: string, ttl: Ttl, more: Readonly<Record<string, string>>) => ({
  ...{ operation: 'lock', glob: 'false', path, ttl: ttl.text },
  ...more,
});

/** A job whose step has locked the path, and has left the process that renews the lock. */
export async function holdingJob(desk: Desk, path: string, ttl: Ttl): Promise<Job> {
  const job = await jobAt(desk);
  const step = await job.run({ with: locking(path, ttl, { renew: 'true' }) });
  if (step.conclusion !== 'success') throw new Error(`${path} was not locked:\n${step.log}`);
  return job;
}

/** The same below a worker of its own, which a test can kill. */
export async function holdingWorker(desk: Desk, path: string, ttl: Ttl) {
  const job = await jobAt(desk);
  const worker = await job.step({ with: locking(path, ttl, { renew: 'true' }), worker: 'stays' });
  await worker.waitForLog('The locks are renewed');
  const renewers = () => job.leftProcesses().filter((pid) => pid !== worker.pid);
  return { job, worker, renewers };
}

/** A job that waits for the path. `granted` resolves to the time at which it has it. */
export async function waitingJob(desk: Desk, path: string, ttl: Ttl) {
  const job = await jobAt(desk);
  const step = await job.step({ with: locking(path, ttl, { wait: '1h' }) });
  await step.waitForLog(/Waiting, .* left/);
  const granted = step.waitForLog(`Locked ${path} `).then(() => performance.now());
  granted.catch(() => undefined);
  return { job, granted };
}

/** The median and the longest of some times, each with its limit. */
export function measuredTimes(name: string, ms: readonly number[], limits: { median: number; worst: number }): void {
  const seconds = (value: number): number => Math.round(value / 10) / 100;
  measured(`${name}: median of ${ms.length}, seconds`, seconds(medianOf(ms)), { atMost: limits.median });
  measured(`${name}: worst, seconds`, seconds(Math.max(...ms)), { atMost: limits.worst });
}
