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

export type ResolvedLink =
  | { readonly kind: 'target'; readonly target: string }
  /** The token must not be sent there. */
  | { readonly kind: 'cross-origin'; readonly origin: string }
  | { readonly kind: 'not-a-url' };

/** Resolves a URL from the service to a request target on the same server. */
export function resolveLink(link: string, from: string, baseUrl: URL): ResolvedLink {
  const base = new URL(from, baseUrl);
  if (!URL.canParse(link, base.href)) return { kind: 'not-a-url' };
  const { origin, protocol, host, pathname, search } = new URL(link, base);
  if (origin !== baseUrl.origin) return { kind: 'cross-origin', origin: `${protocol}//${host}` };
  return { kind: 'target', target: pathname + search };
}
