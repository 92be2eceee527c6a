import { createCall } from '../../client/call.ts';
import { openConnection } from '../../client/connection.ts';
import type { RawResponse } from '../../client/response.ts';
import type { ServiceError } from '../../client/service-error.ts';
import { createServerClock, dateOf } from '../../client/time.ts';
import { milliseconds } from '../../interface/duration.ts';
import { isLoopback } from '../../interface/loopback.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { InputError } from '../inputs/read.ts';
import { actionVersion, type Context, retryLog } from './context.ts';
import type { RunEvent } from './runner.ts';

/** The repository of the run, and the API to reach it. */
export interface GitHubRepository {
  readonly repository: { readonly owner: string; readonly repo: string };
  /** Without a trailing slash. */
  readonly apiUrl: string;
  readonly token: string;
}

/** Determines the repository of the run, without a request. */
export function findRepository(
  event: Pick<RunEvent, 'repository' | 'apiUrl'>,
  token: string,
  allowHttp: boolean,
): Parsed<GitHubRepository> {
  const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(event.repository) ?? [];
  const url = URL.parse(event.apiUrl || 'https://api.github.com');
  if (owner === undefined || repo === undefined || url === null || !/^https?:$/.test(url.protocol)) {
    return refused('GITHUB_REPOSITORY does not name a repository, or GITHUB_API_URL is not the URL of the GitHub API.');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return refused(
      `The GitHub API is at ${url.origin}: plain http would expose the token on the network. Set \`allow-http: true\` on a private network only.`,
    );
  }
  const apiUrl = `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '');
  return accepted({ repository: { owner, repo }, apiUrl, token });
}

export type GitHubContext = Pick<Context, 'clock' | 'sleep' | 'random' | 'log'> & {
  readonly connection: Pick<Context['connection'], 'requestTimeout' | 'retries'>;
};

/** GitHub recommends serial requests, and limits concurrent ones for all steps of a job together. */
const maxConnections = 4;

/** Returns a function for requests to GitHub, with the same retries, limits and proxies as those to the service. */
export function openGitHubCall(apiUrl: URL, token: string, context: GitHubContext) {
  const { clock, sleep, random, log } = context;
  const { requestTimeout, retries } = context.connection;
  const connection = openConnection(apiUrl);
  return createCall({
    baseUrl: apiUrl,
    maxConnections,
    server: 'GitHub',
    clock,
    serverClock: createServerClock(clock),
    send: async (request, signal) => toRateLimited(await connection.send(request, signal)),
    timeoutMs: milliseconds(requestTimeout),
    retries,
    secrets: [token],
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': `workspace-automation/${actionVersion}`,
      'x-github-api-version': '2022-11-28',
    },
    sleep,
    random,
    closed: new AbortController().signal,
    onRetry: retryLog(log),
  });
}

/**
 * Maps a rate limit of GitHub to 429 (RFC 6585, section 4) with Retry-After, so that the same retry rules apply to all
 * servers. GitHub also answers 403, and has its own headers for the time: docs.github.com, "Rate limits for the REST
 * API".
 */
export function toRateLimited(received: RawResponse): RawResponse {
  const wait = retryAfterSeconds(received);
  if (wait === undefined) return received;
  return { ...received, status: 429, headers: { ...received.headers, 'retry-after': wait } };
}

/** The wait if GitHub does not send one. */
const defaultWaitSeconds = '60';

/** The wait in seconds, as in Retry-After. Undefined if the response is not about a rate limit. */
function retryAfterSeconds({ status, headers, bytes }: RawResponse): string | undefined {
  if (status !== 403 && status !== 429) return undefined;
  if (headers['retry-after'] !== undefined) return headers['retry-after'];
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && reset > 0) {
    const now = dateOf(headers) ?? Date.now();
    return String(Math.max(0, Math.ceil(reset - now / 1_000)));
  }
  return /secondary rate limit/i.test(new TextDecoder().decode(bytes)) ? defaultWaitSeconds : undefined;
}

/** The run of the job, with a token that may cancel it. */
export interface RunToCancel extends GitHubRepository {
  readonly run: string;
}

/** Throws an InputError if the environment does not name the run. */
export function findRun(event: RunEvent, token: string, allowHttp: boolean): RunToCancel {
  const repository = findRepository(event, token, allowHttp);
  if (repository.ok && /^\d+$/.test(event.run)) return { ...repository.value, run: event.run };
  const reason = repository.ok ? 'GITHUB_RUN_ID is not the id of a run.' : repository.reason;
  throw new InputError([`Input \`on-lost\` is "cancel". ${reason}`]);
}

const timeLimitMs = 60_000;

/** Cancels the run because the step lost a lock. Returns why it could not; undefined if it could. */
export async function cancelRun(
  { apiUrl, repository: { owner, repo }, run, token }: RunToCancel,
  context: GitHubContext,
): Promise<string | undefined> {
  const call = openGitHubCall(new URL(apiUrl), token, context);
  const within = { deadline: context.clock() + timeLimitMs };
  const target = `${new URL(apiUrl).pathname.replace(/\/$/, '')}/repos/${owner}/${repo}/actions/runs/${run}/cancel`;
  const result = await call({ method: 'POST', target }, within);
  const isDone = result.kind === 'succeeded' || result.response?.status === goneStatus;
  return isDone ? undefined : refusalText(result.error);
}

/** GitHub does not cancel a run that has ended. */
const goneStatus = 409;

const refusalText = ({ reason, advice, status = 0 }: ServiceError): string =>
  reason + ([401, 403, 404].includes(status) ? ' Give the job the permission `actions: write`.' : advice);
