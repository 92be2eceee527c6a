import type { Json } from '../../client/json.ts';
import { unusable } from '../../client/refusal.ts';
import { type CallLimits, expectSuccess } from '../../client/request.ts';
import { headerOf, parseLinks } from '../../client/response.ts';
import { type GitHubContext, openRepository } from '../step/github.ts';
import { type ChangeSource, retryAdvice } from './change.ts';

export type GitHub = Pick<ReturnType<typeof openGitHub>, 'read' | 'pages'>;

/** Opens the repository to read it. Error messages are complete sentences. */
export function openGitHub(source: ChangeSource, context: GitHubContext, within: CallLimits) {
  const { root, request, close } = openRepository(source, context);

  /** Requests a page. `next` is the URL of the next one. */
  async function getPage(url: URL): Promise<{ readonly body: Json; readonly next: string | undefined }> {
    if (url.origin !== root.origin) {
      throw new Error(
        `GitHub linked to another server, ${url.origin}, and the token must not be sent there. ${retryAdvice}`,
      );
    }
    const { response, fail } = expectSuccess(await request('GET', url, within));
    const problem = unusable(response);
    if (problem !== undefined) throw fail(problem);
    const body = response.body.kind === 'json' ? response.body.value : null;
    return { body, next: parseLinks(headerOf(response, 'link')).get('next') };
  }

  return {
    close,
    /** `path` is encoded, and relative to the repository. */
    read: async (path: string): Promise<Json> => (await getPage(new URL(path, root))).body,
    /** Reads a list page by page. */
    async *pages(path: string): AsyncIterable<Json> {
      const seen = new Set<string>();
      for (let next: string | undefined = path; next !== undefined; ) {
        const url: URL = new URL(next, root);
        if (seen.has(url.href)) throw new Error(`GitHub links a page of the list back to itself. ${retryAdvice}`);
        seen.add(url.href);
        const page = await getPage(url);
        yield page.body;
        next = page.next;
      }
    },
  };
}
