import { tmpdir } from 'node:os';

/** Where a step runs. */
export const readRunner = (environment: NodeJS.ProcessEnv) => ({
  checkout: environment['GITHUB_WORKSPACE'] || process.cwd(),
  /** Shared by all steps of a job, and emptied after it. */
  temporaryFolder: environment['RUNNER_TEMP'] || tmpdir(),
  /** The address of the run, with its attempt, sent with every request; undefined outside of a workflow. */
  origin: originOf(environment),
  /** The id of the step in the workflow, or the name that the runner gives it; undefined outside of a workflow. */
  stepName: environment['GITHUB_ACTION'] || undefined,
  /** What runs the steps of the job. When it dies, the system gives its children another parent. */
  worker: process.ppid,
  /** What started the run; empty where the runner says nothing. */
  event: {
    name: environment['GITHUB_EVENT_NAME'] ?? '',
    file: environment['GITHUB_EVENT_PATH'] ?? '',
    repository: environment['GITHUB_REPOSITORY'] ?? '',
    apiUrl: environment['GITHUB_API_URL'] ?? '',
  },
});

export type RunEvent = ReturnType<typeof readRunner>['event'];

function originOf(environment: NodeJS.ProcessEnv): string | undefined {
  const server = environment['GITHUB_SERVER_URL'];
  const repository = environment['GITHUB_REPOSITORY'];
  const run = environment['GITHUB_RUN_ID'];
  if (!server || !repository || !run) return undefined;
  const attempt = environment['GITHUB_RUN_ATTEMPT'];
  return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`;
}

/** The runner sends SIGINT when a job is cancelled, and SIGTERM when that was not enough. */
export function cancellation(): AbortSignal {
  const cancelled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => cancelled.abort());
  return cancelled.signal;
}
