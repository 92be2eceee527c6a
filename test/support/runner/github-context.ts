/** The event that started the run, with the names and values that GitHub uses for it. */
export interface JobEvent {
  /** `GITHUB_EVENT_NAME` */
  readonly name: string;
  /** The content of the file at `GITHUB_EVENT_PATH`. */
  readonly payload: object;
  /** `GITHUB_REF`, such as `refs/heads/main` or `refs/pull/7/merge`. */
  readonly ref: string;
  readonly headRef?: string;
}

const someCommit = 'ffac537e6cbbf934b08745a378932722df287a53';

export const pushEvent = (branch = 'main', payload: object = {}): JobEvent => ({
  name: 'push',
  ref: `refs/heads/${branch}`,
  payload: { ref: `refs/heads/${branch}`, after: someCommit, ...payload },
});

export const tagEvent = (tag: string): JobEvent => ({
  name: 'push',
  ref: `refs/tags/${tag}`,
  payload: { ref: `refs/tags/${tag}`, after: someCommit },
});

export const pullRequestEvent = (request: {
  readonly number: number;
  readonly head: string;
  readonly base?: string;
  /** Further fields of the payload, such as `repository`. */
  readonly payload?: object;
}): JobEvent => {
  const { number, head, base = 'main', payload } = request;
  return {
    name: 'pull_request',
    ref: `refs/pull/${number}/merge`,
    headRef: head,
    payload: {
      action: 'synchronize',
      number,
      pull_request: { number, head: { ref: head }, base: { ref: base } },
      ...payload,
    },
  };
};

/** The identity of a run. Two jobs with equal values belong to one run, like the siblings of a matrix. */
export interface Run {
  readonly repository: string;
  readonly runId: string;
  readonly runAttempt: string;
  readonly job: string;
  readonly workflow: string;
  readonly actor: string;
  readonly serverUrl: string;
  readonly apiUrl: string;
}

export const someRun: Run = {
  repository: 'octo-games/dragon',
  runId: '1001',
  runAttempt: '1',
  job: 'build',
  workflow: 'Release',
  actor: 'ada',
  serverUrl: 'https://github.com',
  apiUrl: 'https://api.github.com',
};

/** The folders of a job, used by no other job. */
export interface JobFolders {
  readonly workspace: string;
  readonly temp: string;
  readonly home: string;
}

/** The commit of the event: a push names the pushed one. */
const commitOf = ({ payload }: JobEvent): string => ('after' in payload ? String(payload.after) : someCommit);

interface ContextOptions {
  readonly run: Run;
  readonly event: JobEvent;
  readonly eventPath: string;
  readonly folders: JobFolders;
  /** `GITHUB_ACTION`: the id of the step. */
  readonly action: string;
  readonly debug: boolean;
}

/**
 * Variables that the runner itself sets for a step of an action, as far as the action, our workflows and their scripts
 * may read them: actions/runner, `GitHubContext.cs` and `RunnerContext.cs`. They are set last, so that neither a
 * workflow nor `GITHUB_ENV` can change them.
 */
export function contextVariables(options: ContextOptions): Readonly<Record<string, string>> {
  const { run, event, eventPath, folders, action, debug } = options;
  return {
    GITHUB_ACTION: action,
    GITHUB_ACTOR: run.actor,
    GITHUB_API_URL: run.apiUrl,
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_HEAD_REF: event.headRef ?? '',
    GITHUB_JOB: run.job,
    GITHUB_REF: event.ref,
    GITHUB_REF_NAME: event.ref.replace(/^refs\/(heads|tags|pull)\//, ''),
    GITHUB_REPOSITORY: run.repository,
    GITHUB_RUN_ATTEMPT: run.runAttempt,
    GITHUB_RUN_ID: run.runId,
    GITHUB_SERVER_URL: run.serverUrl,
    GITHUB_SHA: commitOf(event),
    GITHUB_WORKFLOW: run.workflow,
    GITHUB_WORKSPACE: folders.workspace,
    RUNNER_TEMP: folders.temp,
    ...(debug && { RUNNER_DEBUG: '1' }),
  };
}
