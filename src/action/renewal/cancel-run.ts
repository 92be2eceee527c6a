import type { CallLimits } from '../../client/request.ts';
import { isSuccess } from '../../client/response.ts';
import type { ServiceError } from '../../client/service-error.ts';
import { InputError } from '../inputs/table.ts';
import { actionVersion } from '../step/connect.ts';
import {
  apiHeaders,
  findRepository,
  type GitHubContext,
  type GitHubRepository,
  openGitHubCall,
  type RepositoryAccess,
} from '../step/github.ts';
import type { RunEvent } from '../step/runner.ts';

/** The run of the job, with a token that may cancel it. */
export interface RunToCancel extends GitHubRepository {
  readonly run: string;
}

/** Throws an InputError if the environment does not name the run. */
export function findRun(event: RunEvent, access: RepositoryAccess): RunToCancel {
  const repository = findRepository(event, access);
  if (repository.ok && /^\d+$/.test(event.run)) return { ...repository.value, run: event.run };
  const reason = repository.ok ? 'GITHUB_RUN_ID is not the id of a run.' : repository.reason;
  throw new InputError([`Input \`on-lost\` is "cancel". ${reason}`]);
}

const timeLimitMs = 60_000;

/** Cancels the run because the step lost a lock. Returns why it could not; undefined if it could. */
export async function cancelRun(
  { apiUrl, repository, run, token }: RunToCancel,
  context: GitHubContext,
): Promise<string | undefined> {
  const { call, close } = openGitHubCall(new URL(apiUrl), token, context);
  const within: CallLimits = { deadline: context.clock() + timeLimitMs };
  const { owner, repo } = repository;
  const target = `${new URL(apiUrl).pathname.replace(/\/$/, '')}/repos/${owner}/${repo}/actions/runs/${run}/cancel`;
  const headers = {
    ...apiHeaders,
    authorization: `Bearer ${token}`,
    'user-agent': `workspace-automation/${actionVersion}`,
  };
  try {
    const result = await call({ method: 'POST', target, headers }, within);
    const isDone = result.kind === 'answered' && (isSuccess(result.response) || result.response.status === goneStatus);
    const error = result.kind === 'failed' ? result.error : result.refusal();
    return isDone ? undefined : refusalText(error);
  } finally {
    close();
  }
}

/** GitHub does not cancel a run that has ended. */
const goneStatus = 409;

const refusalText = ({ reason, advice, status = 0 }: ServiceError): string =>
  reason + ([401, 403, 404].includes(status) ? ' Give the job the permission `actions: write`.' : advice);
