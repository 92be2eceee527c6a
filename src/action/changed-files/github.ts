import { getOctokit } from '@actions/github';
import type { Json } from '../../client/json.ts';
import { unusable } from '../../client/refusal.ts';
import type { Call, CallLimits } from '../../client/request.ts';
import { isSuccess } from '../../client/response.ts';
import { actionVersion } from '../step/context.ts';
import { apiHeaders, type GitHubContext, openGitHubCall } from '../step/github.ts';
import type { ChangeSource } from './change.ts';

export type GitHub = Pick<ReturnType<typeof openGitHub>, 'read'>;

/** Opens the repository. Error messages are complete sentences. */
export function openGitHub({ apiUrl, repository, token }: ChangeSource, context: GitHubContext, within: CallLimits) {
  const { call, close } = openGitHubCall(new URL(apiUrl), token, context);
  const octokit = getOctokit(token, {
    baseUrl: apiUrl,
    userAgent: `workspace-automation/${actionVersion}`,
    request: { fetch: createGitHubFetch(call, within) },
  });

  return {
    /** Aborts pending requests. */
    close,
    /** `path` is relative to the repository, with parameters in braces: `pulls/{number}`. */
    async read(path: string, parameters: Readonly<Record<string, string | number>>): Promise<Json> {
      const options = { ...repository, ...parameters, headers: apiHeaders };
      try {
        return (await octokit.request(`GET /repos/{owner}/{repo}/${path}`, options)).data;
      } catch (error) {
        throw unwrapError(error);
      }
    },
  };
}

/**
 * A `fetch` for octokit over the client's own transport, which sends requests only to the server of the API. It only
 * reads, retries by itself, and throws unless the response is a success with JSON.
 */
const createGitHubFetch =
  (call: Call, within: CallLimits) =>
  async (url: string, { headers }: { readonly headers: Readonly<Record<string, string>> }): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const outcome = await call({ method: 'GET', target: pathname + search, headers }, within);
    if (outcome.kind === 'failed') throw outcome.error;
    const { response } = outcome;
    if (!isSuccess(response)) throw outcome.error();
    const problem = unusable(response);
    if (response.body.kind !== 'json') throw problem ? outcome.error(problem) : outcome.error();
    // No other headers: octokit would log the deprecations in them.
    return new Response(JSON.stringify(response.body.value), { headers: { 'content-type': 'application/json' } });
  };

/** Unwraps an error thrown by `fetch`, which octokit wraps in one of its own. */
const unwrapError = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;
