import { someToken } from '../runner/job.ts';
import { createHistory, type GitHubFile, type History } from './github-history.ts';
import type { Answer, OtherServer, OtherServerOptions, SeenRequest } from './other-server.ts';
import { json } from './responses.ts';
import { startOtherServer } from './start-other-server.ts';

export interface GitHubApiOptions extends Pick<OtherServerOptions, 'tls'> {
  /** The base path of the API: `/api/v3` on GitHub Enterprise Server. */
  readonly base?: string;
  /** The files of pull requests by their number. */
  readonly pulls?: Readonly<Record<number, readonly GitHubFile[]>>;
  readonly history?: History;
  /** Responds instead of GitHub if it returns a response. */
  readonly instead?: (request: SeenRequest) => Answer | undefined;
}

export interface GitHubApi extends OtherServer {
  /** The value of GITHUB_API_URL. */
  readonly apiUrl: string;
}

const refusal = (status: number, message: string): Answer =>
  json(status, { message, documentation_url: 'https://docs.github.com/rest' }, { 'x-github-request-id': 'ABCD:1' });

export const notFound = refusal(404, 'Not Found');

/** The response to an Actions token without the permission. */
export const notAccessible = refusal(403, 'Resource not accessible by integration');

/** A small server that responds like GitHub about changed files. */
export async function startGitHubApi(options: GitHubApiOptions = {}): Promise<GitHubApi> {
  const { base = '', pulls = {}, history = createHistory(), instead = () => undefined, tls } = options;
  const below = `${base}/repos/octo-games/dragon/`;
  const found = (body: object | undefined): Answer => (body === undefined ? notFound : json(200, body));

  function answerTo({ method, url, headers }: SeenRequest): Answer {
    const address = new URL(url, server.origin);
    const { pathname, searchParams } = address;
    if (!/^(token|Bearer) /.test(headers.authorization ?? '') || !headers.authorization?.endsWith(` ${someToken}`))
      return refusal(401, 'Bad credentials');
    if (method !== 'GET' || !pathname.startsWith(below)) return notFound;
    const path = pathname.slice(below.length);
    const perPage = Number(searchParams.get('per_page') ?? '30');

    const [, number, files] = /^pulls\/(\d+)(\/files)?$/.exec(path) ?? [];
    const pull = pulls[Number(number)];
    if (pull !== undefined && files === undefined) {
      const [head, branch] = ['a', 'b'].map((digit) => ({ sha: digit.repeat(40) }));
      return json(200, { head, base: branch, changed_files: pull.length });
    }
    if (pull !== undefined) {
      const page = Number(searchParams.get('page') ?? '1');
      searchParams.set('page', String(page + 1));
      // docs.github.com, "List pull requests files": at most 3,000.
      const rest = pull.slice((page - 1) * perPage, 3_000);
      const link = `<${address.href}>; rel="next", <${address.href}>; rel="last"`;
      return json(200, rest.slice(0, perPage), rest.length > perPage ? { link } : {});
    }
    const [, from = '', to = ''] = /^compare\/(.+)\.\.\.(.+)$/.exec(path) ?? [];
    if (from !== '') return found(history.comparison(from, to, perPage));
    const [, tree = ''] = /^git\/trees\/(.+)$/.exec(path) ?? [];
    // Any value makes it recursive: docs.github.com, "Get a tree".
    return found(history.gitTree(tree, searchParams.has('recursive')));
  }

  const server: OtherServer = await startOtherServer(
    (response, request) => (instead(request) ?? answerTo(request))(response, request),
    { ...(tls !== undefined && { tls }) },
  );
  return { ...server, apiUrl: `${server.origin}${base}` };
}
