import { getOctokit } from '@actions/github';
import type { Json } from '../../client/json.ts';
import { notUnderstood, unusable } from '../../client/refusal.ts';
import type { AnsweredCall, Call, CallLimits } from '../../client/request.ts';
import { headerOf, isSuccess, parseLinks } from '../../client/response.ts';
import { actionVersion } from '../step/connect.ts';
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
  async function getPage(
    route: string,
    parameters: Parameters = {},
  ): Promise<{ readonly body: Json; readonly next: string | undefined }> {
    try {
      const { data, headers } = await octokit.request(route, {
        ...parameters,
        headers: apiHeaders,
      });
      return { body: data, next: parseLinks(headers.link).get('next') };
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
      const seen = new Set<string>();
      let page = await first(path, parameters);
      yield page.body;
      while (page.next !== undefined) {
        if (seen.has(page.next)) throw new Error(`GitHub links a page of the list back to itself. ${retryAdvice}`);
        seen.add(page.next);
        page = await getPage(`GET ${new URL(page.next, `${apiUrl}/`).href}`);
        yield page.body;
      }
    },
  };
}

type RequestHeaders = Readonly<Record<string, string>>;

/** A renamed repository redirects to its new URL. Such chains are short. */
const maxRedirects = 5;

/**
 * A `fetch` for octokit over the client's own transport. It only reads, retries by itself, and throws unless the
 * response is a success with JSON. It sends requests only to the server of the API: octokit adds the token to every
 * request, even if a link or a redirect leads elsewhere.
 */
function createGitHubFetch(call: Call, apiUrl: URL, within: CallLimits) {
  async function read(target: URL, headers: RequestHeaders): Promise<AnsweredCall> {
    const outcome = await call({ method: 'GET', target: target.pathname + target.search, headers }, within);
    if (outcome.kind === 'given-up') throw outcome.error;
    return outcome;
  }

  return async (url: string, { headers }: { readonly headers: RequestHeaders }): Promise<Response> => {
    let target = new URL(url);
    if (target.origin !== apiUrl.origin) {
      throw new Error(
        `GitHub linked to another server, ${target.origin}, and the token must not be sent there. ${retryAdvice}`,
      );
    }
    let outcome = await read(target, headers);
    for (let redirects = 0; redirects < maxRedirects && !isSuccess(outcome.response); redirects += 1) {
      const location = headerOf(outcome.response, 'location');
      const { status } = outcome.response;
      if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, target.href)) break;
      target = new URL(location, target);
      if (target.origin !== apiUrl.origin) throw foreignRedirectError(outcome, target);
      outcome = await read(target, headers);
    }
    const { response } = outcome;
    if (!isSuccess(response)) throw outcome.refusal();
    const problem = unusable(response);
    if (response.body.kind !== 'json' || problem !== undefined)
      throw problem ? outcome.fail(problem) : outcome.refusal();
    const link = headerOf(response, 'link');
    return new Response(JSON.stringify(response.body.value), {
      // No other headers: octokit would log the deprecations in them.
      headers: { 'content-type': 'application/json', ...(link !== undefined && { link }) },
    });
  };
}

function foreignRedirectError({ response, fail }: AnsweredCall, target: URL): Error {
  const where = response.sanitizer.line(target.origin, 200);
  const reason = `it leads to another server, ${where}, and the token must not be sent there`;
  return fail(notUnderstood(response, reason));
}

/** Unwraps an error thrown by `fetch`, which octokit wraps in one of its own. */
const unwrapError = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;
