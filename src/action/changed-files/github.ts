import { getOctokit } from '@actions/github';
import { createCall } from '../../client/call.ts';
import { createServerClock, dateOf } from '../../client/clock.ts';
import { openConnection } from '../../client/connection.ts';
import type { Json } from '../../client/json.ts';
import { notUnderstood, unusable } from '../../client/refusal.ts';
import type { AnsweredCall, Call, CallLimits } from '../../client/request.ts';
import { headerOf, isSuccess, parseLinks, type RawResponse } from '../../client/response.ts';
import { milliseconds } from '../../interface/duration.ts';
import { actionVersion, retryLog } from '../step/connect.ts';
import type { Context } from '../step/context.ts';
import { type ChangeSource, retryAdvice } from './change.ts';

export type GitHubContext = Pick<Context, 'clock' | 'sleep' | 'random' | 'connection' | 'log'>;

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
        headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
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

/** GitHub recommends serial requests, and limits concurrent ones for all steps of a job together. */
const maxConnections = 4;

/** Requests to GitHub, with the same retries, limits and proxies as those to the service. */
function openGitHubCall(apiUrl: URL, token: string, context: GitHubContext) {
  const { clock, sleep, random, log } = context;
  const { requestTimeout, retries } = context.connection;
  const connection = openConnection(apiUrl);
  const closing = new AbortController();
  const call = createCall({
    baseUrl: apiUrl,
    server: 'GitHub',
    clock,
    serverClock: createServerClock(clock),
    send: async (request, signal) => toRateLimited(await connection.send(request, signal)),
    timeoutMs: milliseconds(requestTimeout),
    maxConnections,
    retries,
    secrets: [token],
    headers: {},
    sleep,
    random,
    closed: closing.signal,
    onRetry: retryLog(log).onRetry,
  });
  return {
    call,
    close(): void {
      closing.abort();
      connection.close();
    },
  };
}

/**
 * Maps a rate limit of GitHub to 429 (RFC 6585, section 4) with Retry-After, so that all servers share the same retry
 * rules. GitHub also answers 403, and sends the time in headers of its own: docs.github.com, "Rate limits for the REST
 * API".
 */
export function toRateLimited(received: RawResponse): RawResponse {
  const wait = retryAfterSeconds(received);
  if (wait === undefined) return received;
  return {
    ...received,
    status: 429,
    sentStatus: received.status,
    headers: { ...received.headers, 'retry-after': wait },
  };
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
