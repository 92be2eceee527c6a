import type { Need } from '../http/operations.ts';

export interface ExpectedPage {
  readonly method: 'GET' | 'POST';
  /** As the routes write it. */
  readonly path: string;
  readonly need: Need;
}

/** What each page and each form of the dashboard needs: written here a second time, on purpose. */
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
  { method: 'GET', path: '/tokens/:token/rotate', need: 'admin' },
  { method: 'POST', path: '/tokens/:token/rotate', need: 'admin' },
  { method: 'GET', path: '/tokens/:token/revoke', need: 'admin' },
  { method: 'POST', path: '/tokens/:token/revoke', need: 'admin' },
  { method: 'GET', path: '/trust', need: 'admin' },
  { method: 'POST', path: '/trust', need: 'admin' },
  { method: 'GET', path: '/trust/new', need: 'admin' },
  { method: 'GET', path: '/trust/:rule/remove', need: 'admin' },
  { method: 'POST', path: '/trust/:rule/remove', need: 'admin' },
  { method: 'GET', path: '/audit', need: 'admin' },
  { method: 'GET', path: '/workspaces/:id', need: 'any-token' },
  { method: 'GET', path: '/workspaces/:id/summary', need: 'any-token' },
  { method: 'POST', path: '/workspaces/:id/sync', need: 'sync' },
  { method: 'GET', path: '/workspaces/:id/syncs', need: 'sync' },
  { method: 'GET', path: '/workspaces/:id/syncs/:sync', need: 'sync' },
  { method: 'GET', path: '/workspaces/:id/syncs/:sync/events', need: 'sync' },
  { method: 'GET', path: '/workspaces/:id/locks', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/locks/events', need: 'locks:read' },
  { method: 'POST', path: '/workspaces/:id/locks', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/new', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/paths', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/extend', need: 'locks:write' },
  { method: 'POST', path: '/workspaces/:id/locks/extend', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/release', need: 'locks:write' },
  { method: 'POST', path: '/workspaces/:id/locks/release', need: 'locks:write' },
  { method: 'GET', path: '/workspaces/:id/locks/history', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/locks/history.csv', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/locks/history/events', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/paths/:path', need: 'locks:read' },
  { method: 'GET', path: '/workspaces/:id/hooks', need: 'hooks:write' },
  { method: 'POST', path: '/workspaces/:id/hooks', need: 'hooks:write' },
  { method: 'GET', path: '/workspaces/:id/hooks/new', need: 'hooks:write' },
  { method: 'GET', path: '/workspaces/:id/hooks/:hook', need: 'hooks:write' },
  { method: 'POST', path: '/workspaces/:id/hooks/:hook/pause', need: 'hooks:write' },
  { method: 'POST', path: '/workspaces/:id/hooks/:hook/resume', need: 'hooks:write' },
  { method: 'GET', path: '/workspaces/:id/hooks/:hook/remove', need: 'hooks:write' },
  { method: 'POST', path: '/workspaces/:id/hooks/:hook/remove', need: 'hooks:write' },
  { method: 'GET', path: '/workspaces/:id/hooks/:hook/deliveries/:delivery', need: 'hooks:write' },
  { method: 'POST', path: '/workspaces/:id/hooks/:hook/deliveries/:delivery/send-again', need: 'hooks:write' },
];
