import { tmpdir } from 'node:os';
import { runBranch } from '../inputs/run-branch.ts';

export const readRunner = (environment: NodeJS.ProcessEnv) => ({
  checkout: environment['GITHUB_WORKSPACE'] || process.cwd(),
  /** Shared by all steps of a job, and emptied after it. */
  temporaryFolder: environment['RUNNER_TEMP'] || tmpdir(),
  /** The run URL with the attempt, sent with every request; undefined outside a workflow. */
  origin: originOf(environment),
  branch: runBranch(environment),
  /** The process that runs the steps of the job. When it dies, its children get another parent. */
  worker: process.ppid,
  /** The event that started the run; empty if the runner does not set it. */
  event: {
    name: environment['GITHUB_EVENT_NAME'] ?? '',
    file: environment['GITHUB_EVENT_PATH'] ?? '',
    repository: environment['GITHUB_REPOSITORY'] ?? '',
    apiUrl: environment['GITHUB_API_URL'] ?? '',
    run: environment['GITHUB_RUN_ID'] ?? '',
  },
});

export type RunEvent = ReturnType<typeof readRunner>['event'];

function originOf(environment: NodeJS.ProcessEnv): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
  if (!server || !repository || !run) return undefined;
  const attempt = environment['GITHUB_RUN_ATTEMPT'];
  return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`;
}

const pollMs = 250;

/**
 * The runner sends SIGINT when a job is cancelled, and SIGTERM if that was not enough. A step whose worker is gone gets
 * no signal, and nothing else would release what it acquires.
 */
export function cancellation(worker?: number): AbortController {
  const cancelled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => cancelled.abort());
  if (worker !== undefined) {
    setInterval(() => {
      if (isWorkerGone(worker)) cancelled.abort();
    }, pollMs).unref();
  }
  return cancelled;
}

/** On Windows, an orphan keeps the id of its parent. A parent that is not visible, as in a container, has the id 0. */
const isWorkerGone = (worker: number): boolean => process.ppid !== worker || (worker > 0 && hasNoProcess(worker));

export function hasNoProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
