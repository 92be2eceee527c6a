import { headerOf, isSuccess } from '../../client/answer.ts';
import type { AnsweredCall, Call, Within } from '../../client/call.ts';
import { notUnderstood, unusable } from '../../client/refusal.ts';

interface FetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What octokit needs of a `fetch`. */
export type Fetch = (address: string, options: FetchOptions) => Promise<Response>;

/** A repository that was renamed answers from its new place; a chain of such is short. */
const mostRedirects = 5;

function leadsElsewhere({ answer, texts, fail }: AnsweredCall, target: URL): Error {
  const where = texts.line(target.origin, 200);
  const why = `it leads to ${where}, which is another server, and the token must not go there`;
  return fail(notUnderstood(answer, texts, why));
}

/**
 * A `fetch` over the client's own transport, as far as octokit needs one: it only reads, it retries by itself, and
 * whatever is not JSON of success is an error. Nothing is ever sent to another server than that of the API, because
 * octokit puts the token into every request, wherever a link or a redirect leads.
 */
export function createGitHubFetch(call: Call, apiUrl: URL, within: Within): Fetch {
  async function read(target: URL, headers: FetchOptions['headers']): Promise<AnsweredCall> {
    const outcome = await call({ method: 'GET', target: target.pathname + target.search, headers }, within);
    if (outcome.kind === 'given-up') throw outcome.error;
    return outcome;
  }

  return async (address, { method, headers }) => {
    if (method !== 'GET') throw new Error(`${method} is more than reading, which is all that is done at GitHub.`);
    let target = new URL(address);
    if (target.origin !== apiUrl.origin) {
      throw new Error(
        `An answer of GitHub leads to another server, ${target.origin}, and the token must not go there.`,
      );
    }
    let outcome = await read(target, headers);
    for (let redirects = 0; redirects < mostRedirects && !isSuccess(outcome.answer); redirects += 1) {
      const location = headerOf(outcome.answer, 'location');
      const { status } = outcome.answer;
      if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, target.href)) break;
      target = new URL(location, target);
      if (target.origin !== apiUrl.origin) throw leadsElsewhere(outcome, target);
      outcome = await read(target, headers);
    }
    const { answer, texts } = outcome;
    if (!isSuccess(answer)) throw outcome.refuse(answer);
    const wrong = unusable(answer, texts);
    if (answer.body.kind !== 'json' || wrong !== undefined) throw wrong ? outcome.fail(wrong) : outcome.refuse(answer);
    const link = headerOf(answer, 'link');
    return new Response(JSON.stringify(answer.body.value), {
      // Nothing else of the headers: octokit writes to the console what it finds there of deprecations.
      headers: { 'content-type': 'application/json', ...(link !== undefined && { link }) },
    });
  };
}
