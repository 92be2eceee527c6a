import { getOctokit } from '@actions/github';
import { parseLinks } from '../../client/answer.ts';
import type { Call, Within } from '../../client/call.ts';
import type { Json } from '../../client/json.ts';
import { version } from '../version.ts';
import { createGitHubFetch } from './github-fetch.ts';
import type { Repository } from './source.ts';

export type Parameters = Readonly<Record<string, string | number>>;

/** One repository, to be read. Errors are sentences. */
export interface GitHub {
  /** A path below that of the repository, with its parameters in braces: `pulls/{number}`. */
  read(path: string, parameters: Parameters): Promise<Json>;
  /** The same page by page, as the answers lead to each other. */
  pages(path: string, parameters: Parameters): AsyncIterable<Json>;
}

interface Page {
  readonly body: Json;
  /** The address of the next one. */
  readonly next: string | undefined;
}

/** Octokit puts what a fetch throws into an error of its own. */
const reasonOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

export interface GitHubOptions {
  /** Without a slash at its end. */
  readonly apiUrl: string;
  readonly repository: Repository;
  readonly token: string;
  readonly call: Call;
  readonly within: Within;
}

export function openGitHub({ apiUrl, repository, token, call, within }: GitHubOptions): GitHub {
  const octokit = getOctokit(token, {
    baseUrl: apiUrl,
    userAgent: `workspace-automation/${version}`,
    request: { fetch: createGitHubFetch(call, new URL(apiUrl), within) },
  });

  async function ask(route: string, parameters: Parameters = {}): Promise<Page> {
    try {
      const { data, headers } = await octokit.request(route, {
        ...parameters,
        headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
      });
      return { body: data, next: parseLinks(headers.link).get('next') };
    } catch (error) {
      throw reasonOf(error);
    }
  }

  const first = (path: string, parameters: Parameters): Promise<Page> =>
    ask(`GET /repos/{owner}/{repo}/${path}`, { ...repository, ...parameters });

  return {
    read: async (path, parameters) => (await first(path, parameters)).body,
    // Octokit's own way through the pages takes a conflict (409) for the end of the list.
    async *pages(path, parameters) {
      const seen = new Set<string>();
      let page = await first(path, parameters);
      yield page.body;
      while (page.next !== undefined) {
        if (seen.has(page.next)) throw new Error('GitHub names a page as the next that was there before.');
        seen.add(page.next);
        page = await ask(`GET ${new URL(page.next, `${apiUrl}/`).href}`);
        yield page.body;
      }
    },
  };
}
