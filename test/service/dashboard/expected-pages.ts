import type { Need } from '../http/operations.ts';

export interface ExpectedPage {
  readonly method: 'GET' | 'POST';
  /** The pattern of its route. */
  readonly path: string;
  readonly need: Need;
}

/** The access that each page and form of the dashboard requires. Deliberately repeated here. */
export const expectedPages: readonly ExpectedPage[] = [
  { method: 'GET', path: '/assets/:version/:name', need: 'anyone' },
  { method: 'GET', path: '/sign-in', need: 'anyone' },
  { method: 'POST', path: '/sign-in', need: 'anyone' },
  { method: 'POST', path: '/sign-in/link', need: 'anyone' },
  { method: 'POST', path: '/sign-out', need: 'any-token' },
  { method: 'GET', path: '/', need: 'any-token' },
  { method: 'GET', path: '/my-locks', need: 'locks:read' },
  { method: 'GET', path: '/tokens', need: 'admin' },
  { method: 'POST', path: '/tokens', need: 'admin' },
  { method: 'GET', path: '/tokens/new', need: 'admin' },
  { method: 'GET', path: '/tokens/:token', need: 'admin' },
  { method: 'POST', path: '/tokens/:token/rotate', need: 'admin' },
  { method: 'POST', path: '/tokens/:token/revoke', need: 'admin' },
  { method: 'GET', path: '/workspaces/:id', need: 'any-token' },
  { method: 'GET', path: '/workspaces/:id/syncs', need: 'sync' },
  { method: 'GET', path: '/workspaces/:id/locks', need: 'locks:read' },
  { method: 'POST', path: '/workspaces/:id/locks', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/new', need: 'locks:write' },
  { method: 'POST', path: '/workspaces/:id/locks/extend', need: 'locks:write' },
  { method: 'POST', path: '/workspaces/:id/locks/ask', need: 'locks:write' },
  { method: 'POST', path: '/workspaces/:id/locks/withdraw', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/release', need: 'locks:write' },
  { method: 'POST', path: '/workspaces/:id/locks/release', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/history', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/locks/history.csv', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/paths/:path', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/pools', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/hooks', need: 'hooks:write' },
];
