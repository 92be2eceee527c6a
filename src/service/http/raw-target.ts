/** The absolute form of a request target, RFC 9112 section 3.2.2, up to its path. */
const absolute = /^https?:\/\/[^/?#]*/i;

/**
 * The request target in the one form that everything behind the socket sees: an absolute path, with nothing resolved
 * or decoded. A target of another kind (`*`) becomes the path of nothing. A raw backslash would be read as a slash by
 * a URL parser.
 */
export function originForm(requestTarget: string): string {
  const target = requestTarget.replace(absolute, '').replaceAll('\\', '%5C');
  return target.startsWith('/') ? target : `/${target}`;
}

/**
 * The path of a request exactly as it was sent, for routing. A URL parser would resolve `..` and `%2e%2e` first, so
 * that a lock path could address another resource. The lock path becomes one segment: clients send its slashes raw or
 * encoded, and both mean the same.
 */
export function routingPath(target: string): string {
  const path = target.replace(/[?#].*$/s, '');
  const [, collection, lockPath] = /^(\/v1\/workspaces\/[^/]+\/locks\/)(.+)$/s.exec(path) ?? [];
  if (collection === undefined || lockPath === undefined) return path;
  return collection + lockPath.replaceAll('/', '%2F');
}

/** The last segment of a routing path, still encoded. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
