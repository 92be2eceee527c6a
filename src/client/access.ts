import { isLoopback } from '../interface/loopback.ts';
import { accepted, controlCharacter, type Parsed, refused } from '../interface/parsed.ts';

/**
 * Parses the URL of the service, and removes trailing slashes. `allowing` is the setting that allows plain http to
 * other machines, for the error message.
 */
export function parseBaseUrl(text: string, allowHttp: boolean, allowing: string): Parsed<string> {
  // URL parsers remove line breaks and tabs, which would join two lines into one URL.
  if (/\s/.test(text) || controlCharacter.test(text))
    return refused('It must be a single URL, without spaces or line breaks.');
  const url = URL.parse(text);
  if (url === null) return refused('It must be a URL such as https://workspaces.example.com/v1.');
  if (url.username !== '' || url.password !== '') {
    return refused('It must not contain a user name or a password: the token is sent in a header.');
  }
  if (text.includes('?') || text.includes('#')) return refused('It must not have a query or a fragment.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('It must start with https://.');
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return refused(
      `Plain http would expose the token on the network. Use https, or set ${allowing} on a private network only.`,
    );
  }
  const href = url.href.replace(/(?<!\/)\/+$/, '');
  if (!href.endsWith('/v1')) return refused('It must end in /v1, the API version.');
  return accepted(href);
}

/** A token is sent in a header, so it has the characters of RFC 9110, section 5.5, except spaces. */
export const parseToken =
  (reason: string) =>
  (text: string): Parsed<string> =>
    /^[\x21-\x7e]+$/.test(text) ? accepted(text) : refused(reason);

/** RFC 9110, section 5.5. */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

/** The parameters of a request for an identity token of a job on GitHub. */
export interface IdentityRequest {
  readonly requestUrl: string;
  /** Issued by the runner for these requests, and secret. */
  readonly requestToken: string;
}

/** Undefined if the job lacks the permission `id-token: write`. */
export function readIdentityRequest(environment: NodeJS.ProcessEnv): IdentityRequest | undefined {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken } = environment;
  return requestUrl && requestToken && URL.canParse(requestUrl) ? { requestUrl, requestToken } : undefined;
}

declare const brand: unique symbol;

/** The id of a workspace. As part of a URL, it cannot lead to another resource. */
export type WorkspaceId = string & { readonly [brand]: 'WorkspaceId' };

const maxIdLength = 256;

export function parseWorkspaceId(text: string): Parsed<WorkspaceId> {
  if (text === '') return refused('A workspace must not be empty.');
  if (!text.isWellFormed() || /[/\\]/.test(text) || controlCharacter.test(text)) {
    return refused('A workspace must not have slashes, backslashes or control characters.');
  }
  if (text === '.' || text === '..') return refused('A workspace must not be "." or "..".');
  if (text.length > maxIdLength) return refused(`A workspace must not be longer than ${maxIdLength} characters.`);
  // The only cast to WorkspaceId: the text has just been checked.
  return accepted(text as WorkspaceId);
}
