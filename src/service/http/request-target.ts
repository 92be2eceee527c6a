import type { IncomingMessage } from 'node:http';
import { invalid, pointerTo, type Refusal } from '../contract/response.ts';

/** The absolute form of a request target (RFC 9112 section 3.2.2), up to its path. */
const absolute = /^https?:\/\/[^/?#]*/i;

/**
 * The request target as an absolute path, with nothing resolved or decoded. Other targets (`*`) become a path that does
 * not exist. Raw backslashes are encoded, because a URL parser would read them as slashes.
 */
export function originForm(requestTarget: string): string {
  const target = requestTarget.replace(absolute, '').replaceAll('\\', '%5C');
  return target.startsWith('/') ? target : `/${target}`;
}

/**
 * The LFS endpoint that clients derive from the URL of a mirror: `.git/info/lfs` appended to a URL, `/info/lfs` to one
 * that ends in `.git` (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md). The `.git` is
 * optional, so that a setting for the URL of the mirror, such as http.<url>.extraHeader, covers its LFS endpoint.
 */
const lfsOfMirror = /^(\/v1\/workspaces\/[^/]+\/)git(?:\.git)?\/info\/(?=lfs(?:\/|$))/;

/**
 * The path for routing, with nothing resolved or decoded. Otherwise `..` or `%2e%2e` in a lock path could address
 * another resource. The lock path becomes one segment, because clients send its slashes either raw or encoded. All URLs
 * of an LFS endpoint become the same path.
 */
export function routingPath(target: string): string {
  const path = target.replace(/[?#].*$/s, '').replace(lfsOfMirror, '$1');
  const [, collection, lockPath] =
    /^(\/v1\/workspaces\/[^/]+\/locks\/|\/workspaces\/[^/]+\/paths\/)(.+)$/s.exec(path) ?? [];
  if (collection === undefined || lockPath === undefined) return path;
  return collection + lockPath.replaceAll('/', '%2F');
}

/** The last segment of a routing path, still encoded. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** `uri-host [ ":" port ]` of RFC 9110 section 7.2, with the host syntax of RFC 3986 section 3.2.2. */
const authority = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::\d*)?$/i;

/** RFC 9112 section 3.2: exactly one valid Host header; HTTP/1.0 may omit it. */
export function hasValidHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct['host'] ?? [];
  const [host] = hosts;
  if (host === undefined) return httpVersion === '1.0';
  return hosts.length === 1 && authority.test(host);
}

/** Headers that proxies add. Clients may reach a proxy over TLS and under another name. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'via'];

/**
 * Origin of the service according to the client's Host header. Use it only in the response to that client, because it
 * can be forged. Undefined behind a proxy, where the public origin is unknown.
 */
export function hostOrigin({ headersDistinct }: IncomingMessage): string | undefined {
  const [host = ''] = headersDistinct['host'] ?? [];
  if (proxyHeaders.some((name) => headersDistinct[name] !== undefined)) return undefined;
  return URL.parse(`http://${host}`)?.origin;
}

const maxNameLength = 100;

/**
 * The parameters with these names. If `others` is `refused`, others are errors: with a misspelled filter, the response
 * would be the full list. Empty names are ignored.
 */
export function readQuery(
  requestTarget: string,
  names: readonly string[],
  others: 'ignored' | 'refused' = 'ignored',
): Readonly<Record<string, string>> {
  const [, query = ''] = /\?([^#]*)/.exec(requestTarget) ?? [];
  return readParameters(query, names, others);
}

/**
 * Common parsers keep values that they cannot decode, and choose one of several. Both are guesses, so both are rejected
 * here.
 */
export function readParameters(
  text: string,
  names: readonly string[],
  others: 'ignored' | 'refused' = 'ignored',
): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const parameter of text.split('&')) {
    const [encodedName = '', ...encodedValue] = parameter.split('=');
    const name = decodeUrlencoded(encodedName);
    if (name === undefined || !names.includes(name)) {
      if (others === 'refused' && encodedName !== '') throw unknownParameter(name ?? encodedName, names);
      continue;
    }
    const value = decodeUrlencoded(encodedValue.join('='));
    if (value === undefined) throw invalidParameter(name, 'It is not valid percent-encoded UTF-8.');
    if (values.has(name)) throw invalidParameter(name, 'It is given more than once.');
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

function unknownParameter(name: string, known: readonly string[]): Refusal {
  const all = known.length === 0 ? 'This endpoint has no parameters.' : `This endpoint supports ${known.join(', ')}.`;
  return invalid({ pointer: pointerTo([name.slice(0, maxNameLength)]), detail: `Unknown parameter. ${all}` });
}

/** Decodes a name or value of a form, where `+` is a space; undefined if it is not percent-encoded UTF-8. */
function decodeUrlencoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const invalidParameter = (name: string, detail: string): Refusal => invalid({ pointer: `#/${name}`, detail });
