import { isLoopback } from '../interface/loopback.ts';
import { accepted, type Parsed, refused } from '../interface/parsed.ts';

/** The address of the service, without a slash at its end. `allowing` says how to let plain http go further than it may. */
export function parseBaseUrl(text: string, allowHttp: boolean, allowing: string): Parsed<string> {
  // A URL parser drops line breaks and tabs, and joins what was on two lines.
  if (/[\s\p{Cc}]/u.test(text)) return refused('It must be a single URL, without spaces or line breaks.');
  const url = URL.parse(text);
  if (url === null) return refused('It must be an address such as https://workspaces.example.com/v1.');
  if (url.username !== '' || url.password !== '') {
    return refused('It must not contain a user name or a password: the token is sent in a header.');
  }
  if (text.includes('?') || text.includes('#')) return refused('It must not have a query or a fragment.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('It has to begin with https://.');
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return refused(
      `Plain http would expose the token to everyone on the way. Use https, or set ${allowing} on a network that is yours alone.`,
    );
  }
  const address = url.href.replace(/(?<!\/)\/+$/, '');
  if (!address.endsWith('/v1')) return refused('It has to end in /v1, the version of the interface.');
  return accepted(address);
}

/** A token goes into a header: RFC 9110, section 5.5, without blanks. */
export const parseToken =
  (reason: string) =>
  (text: string): Parsed<string> =>
    /^[\x21-\x7e]+$/.test(text) ? accepted(text) : refused(reason);

declare const brand: unique symbol;

/** Names a workspace, and cannot lead to anything else when it is part of an address. */
export type WorkspaceId = string & { readonly [brand]: 'WorkspaceId' };

export function parseWorkspaceId(text: string): Parsed<WorkspaceId> {
  const reason = workspaceProblem(text);
  // A brand cannot be computed: this is the one place that gives it, to what has just been examined.
  return reason === undefined ? accepted(text as WorkspaceId) : refused(reason);
}

const maxIdLength = 256;

function workspaceProblem(text: string): string | undefined {
  if (text === '') return 'A workspace must not be empty.';
  if (!text.isWellFormed() || /[\p{Cc}/\\]/u.test(text)) {
    return 'A workspace must not have slashes, backslashes or control characters.';
  }
  if (text === '.' || text === '..') return 'A workspace must not be "." or "..".';
  if (text.length > maxIdLength) return `A workspace must not be longer than ${maxIdLength} characters.`;
  return undefined;
}
