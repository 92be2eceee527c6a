import type { IncomingMessage } from 'node:http';

/** The absolute form of a request target, RFC 9112 section 3.2.2, up to its path. */
const absolute = /^https?:\/\/[^/?#]*/i;

/**
 * The request target in one form: an absolute path with nothing resolved or decoded. Another kind of target (`*`) becomes
 * a path that does not exist. A URL parser would read a raw backslash as a slash.
 */
export function originForm(requestTarget: string): string {
  const target = requestTarget.replace(absolute, '').replaceAll('\\', '%5C');
  return target.startsWith('/') ? target : `/${target}`;
}

/**
 * The LFS endpoint that clients derive from the URL of a mirror: `.git/info/lfs` appended to a URL, `/info/lfs` to one that
 * ends in `.git` (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md). Also without the `.git`, so
 * that a setting for the URL of the mirror, such as http.<url>.extraHeader, covers its LFS endpoint.
 */
const lfsOfMirror = /^(\/v1\/workspaces\/[^/]+\/)git(?:\.git)?\/info\/(?=lfs(?:\/|$))/;

/**
 * The path for routing, with nothing resolved or decoded. A URL parser would resolve `..` and `%2e%2e` first, so that a lock
 * path could address another resource. The lock path becomes one segment, because clients send its slashes raw or encoded,
 * and all addresses of an LFS endpoint become one.
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

/** `uri-host [ ":" port ]` of RFC 9110 section 7.2, with what RFC 3986 section 3.2.2 lets a host be. */
const authority = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::\d*)?$/i;

/** RFC 9112 section 3.2: exactly one valid Host; none in HTTP/1.0. */
export function hasValidHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct['host'] ?? [];
  const [host] = hosts;
  if (host === undefined) return httpVersion === '1.0';
  return hosts.length === 1 && authority.test(host);
}

/** Headers of a proxy, which may have been reached by TLS and under another name. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'via'];

/**
 * Where the client has asked, by its own word: only its own answer may depend on it. Undefined behind a proxy, where it is
 * not known.
 */
export function hostOrigin({ headersDistinct }: IncomingMessage): string | undefined {
  const [host = ''] = headersDistinct['host'] ?? [];
  if (proxyHeaders.some((name) => headersDistinct[name] !== undefined)) return undefined;
  return URL.parse(`http://${host}`)?.origin;
}
