/**
 * The path of a request exactly as it was sent, for routing. A URL parser would resolve `..` and `%2e%2e` first, so
 * that a lock path could address another resource. The lock path becomes one segment: clients send its slashes raw or
 * encoded, and both mean the same.
 */
export function routingPath(requestTarget: string): string {
  // Absolute form, RFC 9112 section 3.2.2.
  const path = requestTarget.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  const [, collection, lockPath] = /^(\/v1\/workspaces\/[^/]+\/locks\/)(.+)$/s.exec(path) ?? [];
  if (collection === undefined || lockPath === undefined) return path;
  return collection + lockPath.replaceAll('/', '%2F');
}

/** The last segment of a routing path, still encoded. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
