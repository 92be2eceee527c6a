import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitHubPlace } from './changed-files/source.ts';
import { ledgerFile } from './ledger/ledger.ts';

/** Where a step runs, as the runner's environment tells it. */
export interface RunnerPlace {
  /** The checkout. */
  readonly checkout: string;
  readonly ledger: string;
  /** A file for the locks of a step. */
  locksFile(step: string): string;
  /** The address of the run, with its attempt; undefined outside of a workflow. */
  readonly origin: string | undefined;
  /** The id of the step in the workflow, or the name that the runner gives it; undefined outside of a workflow. */
  readonly stepName: string | undefined;
  readonly github: GitHubPlace;
}

function originOf(environment: NodeJS.ProcessEnv): string | undefined {
  const server = environment['GITHUB_SERVER_URL'];
  const repository = environment['GITHUB_REPOSITORY'];
  const run = environment['GITHUB_RUN_ID'];
  if (!server || !repository || !run) return undefined;
  const attempt = environment['GITHUB_RUN_ATTEMPT'];
  return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`;
}

export function runnerPlace(environment: NodeJS.ProcessEnv): RunnerPlace {
  const temporary = environment['RUNNER_TEMP'] || tmpdir();
  return {
    checkout: environment['GITHUB_WORKSPACE'] || process.cwd(),
    ledger: ledgerFile(temporary),
    locksFile: (step) => join(temporary, 'workspace-automation', `locks-${step}.json`),
    origin: originOf(environment),
    stepName: environment['GITHUB_ACTION'] || undefined,
    github: {
      event: environment['GITHUB_EVENT_NAME'] ?? '',
      eventFile: environment['GITHUB_EVENT_PATH'] ?? '',
      repository: environment['GITHUB_REPOSITORY'] ?? '',
      apiUrl: environment['GITHUB_API_URL'] ?? '',
    },
  };
}
