import { asOneSegment, asSegments, type LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';

export type Endpoints = ReturnType<typeof createEndpoints>;

export function createEndpoints(baseUrl: URL) {
  const base = baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
  const below = (workspace: WorkspaceId, ...rest: readonly string[]): string =>
    [base, 'workspaces', encodeURIComponent(workspace), ...rest].join('/');
  return {
    workspaces: `${base}/workspaces`,
    token: `${base}/token`,
    branches: (workspace: WorkspaceId) => below(workspace, 'branches'),
    sync: (workspace: WorkspaceId) => below(workspace, 'sync'),
    locks: (workspace: WorkspaceId) => below(workspace, 'locks'),
    lock: (workspace: WorkspaceId, path: LockPath) => below(workspace, 'locks', asOneSegment(path)),
    lockWithSlashes: (workspace: WorkspaceId, path: LockPath) => below(workspace, 'locks', asSegments(path)),
    // Its id may come from the output of another job.
    lease: (workspace: WorkspaceId, lease: string) => below(workspace, 'leases', encodeURIComponent(lease)),
    queue: (workspace: WorkspaceId) => below(workspace, 'queue'),
    hooks: (workspace: WorkspaceId) => below(workspace, 'hooks'),
  };
}

/**
 * Resolves a URL from the service to its server and its request target, which is undefined on another server: the token
 * must not be sent there. Undefined if the link is not a URL.
 */
export function resolveLink(link: string, from: string, baseUrl: URL) {
  const url = URL.parse(link, new URL(from, baseUrl).href);
  if (url === null) return undefined;
  const { origin, protocol, host, pathname, search } = url;
  return { server: `${protocol}//${host}`, target: origin === baseUrl.origin ? pathname + search : undefined };
}
