import { getOctokit } from '@actions/github';
import type { Json } from '../../client/json.ts';
import { unusable } from '../../client/refusal.ts';
import type { Call, CallLimits } from '../../client/request.ts';
import { headerOf, isSuccess, parseLinks } from '../../client/response.ts';
import { actionVersion } from '../step/context.ts';
import { apiHeaders, type GitHubContext, openGitHubCall } from '../step/github.ts';
import { type ChangeSource, retryAdvice } from './change.ts';

type Parameters = Readonly<Record<string, string | number>>;

export type GitHub = Pick<ReturnType<typeof openGitHub>, 'read' | 'pages'>;

/** Opens the repository. Error messages are complete sentences. */
export function openGitHub({ apiUrl, repository, token }: ChangeSource, context: GitHubContext, within: CallLimits) {
  const { call, close } = openGitHubCall(new URL(apiUrl), token, context);
  const octokit = getOctokit(token, {
    baseUrl: apiUrl,
    userAgent: `workspace-automation/${actionVersion}`,
    request: { fetch: createGitHubFetch(call, new URL(apiUrl), within) },
  });

  /** Requests a page. `next` is the URL of the next one. */
  async function getPage(route: string, parameters: Parameters = {}) {
    try {
      const { data, headers } = await octokit.request(route, { ...parameters, headers: apiHeaders });
      const body: Json = data;
      return { body, next: parseLinks(headers.link).get('next') };
    } catch (error) {
      throw unwrapError(error);
    }
  }

  const first = (path: string, parameters: Parameters) =>
    getPage(`GET /repos/{owner}/{repo}/${path}`, { ...repository, ...parameters });

  return {
    /** Aborts pending requests. */
    close,
    /** `path` is relative to the repository, with parameters in braces: `pulls/{number}`. */
    read: async (path: string, parameters: Parameters): Promise<Json> => (await first(path, parameters)).body,
    /** Reads a list page by page. Octokit's pagination treats a conflict (409) as the end of the list. */
    async *pages(path: string, parameters: Parameters): AsyncIterable<Json> {
      let page = await first(path, parameters);
      yield page.body;
      while (page.next !== undefined) {
        page = await getPage(`GET ${new URL(page.next, `${apiUrl}/`).href}`);
        yield page.body;
      }
    },
  };
}

type RequestHeaders = Readonly<Record<string, string>>;

/**
 * A `fetch` for octokit over the client's own transport. It only reads, retries by itself, and throws unless the
 * response is a success with JSON. It sends requests only to the server of the API: octokit adds the token to every
 * request, even if a link leads elsewhere.
 */
const createGitHubFetch =
  (call: Call, apiUrl: URL, within: CallLimits) =>
  async (url: string, { headers }: { readonly headers: RequestHeaders }): Promise<Response> => {
    const { origin, pathname, search } = new URL(url);
    if (origin !== apiUrl.origin) {
      throw new Error(
        `GitHub linked to another server, ${origin}, and the token must not be sent there. ${retryAdvice}`,
      );
    }
    const outcome = await call({ method: 'GET', target: pathname + search, headers }, within);
    if (outcome.kind === 'failed') throw outcome.error;
    const { response } = outcome;
    if (!isSuccess(response)) throw outcome.error();
    const problem = unusable(response);
    if (response.body.kind !== 'json' || problem !== undefined)
      throw problem ? outcome.error(problem) : outcome.error();
    const link = headerOf(response, 'link');
    return new Response(JSON.stringify(response.body.value), {
      // No other headers: octokit would log the deprecations in them.
      headers: { 'content-type': 'application/json', ...(link !== undefined && { link }) },
    });
  };

/** Unwraps an error thrown by `fetch`, which octokit wraps in one of its own. */
const unwrapError = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;
