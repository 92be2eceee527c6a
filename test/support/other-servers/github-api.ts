import { someToken } from '../runner/job.ts';
import { createHistory, type GitHubFile, type History } from './github-history.ts';
import type { Answer, OtherServer, OtherServerOptions, SeenRequest } from './other-server.ts';
import { json } from './responses.ts';
import { startOtherServer } from './start-other-server.ts';

export interface PullRequest {
  readonly files: readonly GitHubFile[];
}

export interface GitHubApiOptions extends Pick<OtherServerOptions, 'tls'> {
  /** The token with read access. */
  readonly token?: string;
  /** The base path of the API: `/api/v3` on GitHub Enterprise Server. */
  readonly base?: string;
  readonly repository?: string;
  readonly pulls?: Readonly<Record<number, PullRequest>>;
  readonly history?: History;
  readonly branches?: Readonly<Record<string, string>>;
  /** Responds instead of GitHub if it returns a response. */
  readonly instead?: (request: SeenRequest) => Answer | undefined;
}

export interface GitHubApi extends OtherServer {
  /** The value of GITHUB_API_URL. */
  readonly apiUrl: string;
}

/** The maximum number of files that GitHub lists for a pull request. */
const mostOfAPullRequest = 3_000;

const refusal = (status: number, message: string): Answer =>
  json(status, { message, documentation_url: 'https://docs.github.com/rest' }, { 'x-github-request-id': 'ABCD:1' });

export const notFound = refusal(404, 'Not Found');

/** The response to an Actions token without the permission. */
export const notAccessible = refusal(403, 'Resource not accessible by integration');

const badCredentials = refusal(401, 'Bad credentials');

interface Page {
  readonly body: object;
  readonly hasNext: boolean;
}

function pullPage(pull: PullRequest, page: number, perPage: number): Page {
  const all = pull.files.slice(0, mostOfAPullRequest);
  return { body: all.slice((page - 1) * perPage, page * perPage), hasNext: page * perPage < all.length };
}

/** A small server that responds like GitHub about changed files. */
function gitHubAnswers(options: GitHubApiOptions): Answer {
  const { token = someToken, base = '', repository = 'octo-games/dragon', pulls = {}, branches = {} } = options;
  const { history = createHistory(), instead = () => undefined } = options;
  const below = `${base}/repos/${repository}/`;

  const found = (body: object | undefined): Answer => (body === undefined ? notFound : json(200, body));

  const paged = (request: SeenRequest, page: Page, number: number): Answer => {
    const next = new URL(request.url, `${options.tls === undefined ? 'http' : 'https'}://${request.headers.host}`);
    next.searchParams.set('page', String(number + 1));
    const link = { link: `<${next.href}>; rel="next", <${next.href}>; rel="last"` };
    return json(200, page.body, page.hasNext ? link : {});
  };

  const answerOf = (request: SeenRequest): Answer => {
    const { pathname, searchParams } = new URL(request.url, 'http://github');
    const page = Number(searchParams.get('page') ?? '1');
    const perPage = Number(searchParams.get('per_page') ?? '30');
    if (!['token', 'Bearer'].some((scheme) => request.headers.authorization === `${scheme} ${token}`))
      return badCredentials;
    if (request.method !== 'GET' || !pathname.startsWith(below)) return notFound;
    const path = pathname.slice(below.length);

    const [, number, files] = /^pulls\/(\d+)(\/files)?$/.exec(path) ?? [];
    const pull = pulls[Number(number)];
    if (pull !== undefined) {
      if (files !== undefined) return paged(request, pullPage(pull, page, perPage), page);
      const [head, base] = ['a', 'b'].map((digit) => ({ sha: digit.repeat(40) }));
      return json(200, { head, base, changed_files: pull.files.length });
    }
    const [, from = '', to = ''] = /^compare\/(.+)\.\.\.(.+)$/.exec(path) ?? [];
    const commitOf = (text: string): string => branches[decodeURIComponent(text)] ?? text;
    if (from !== '') return found(history.comparison(commitOf(from), commitOf(to), perPage));
    const [, tree = ''] = /^git\/trees\/(.+)$/.exec(path) ?? [];
    // Any value makes it recursive: docs.github.com, "Get a tree".
    return found(history.gitTree(tree, searchParams.has('recursive')));
  };

  return (response, request) => (instead(request) ?? answerOf(request))(response, request);
}

export async function startGitHubApi(options: GitHubApiOptions = {}): Promise<GitHubApi> {
  const { tls } = options;
  const server = await startOtherServer(gitHubAnswers(options), { ...(tls !== undefined && { tls }) });
  return { ...server, apiUrl: `${server.origin}${options.base ?? ''}` };
}
