import type { Need } from '../http/operations.ts';

/** The scope for each endpoint, as in the rows "Scopes" and "Git LFS locking" of DESIGN: repeated here on purpose. */
export const expectedLfsRoutes: readonly { readonly method: string; readonly path: string; readonly need: Need }[] = [
  { method: 'POST', path: '/v1/workspaces/:id/lfs/locks', need: 'locks:write' },
  { method: 'GET', path: '/v1/workspaces/:id/lfs/locks', need: 'locks:read' },
  { method: 'POST', path: '/v1/workspaces/:id/lfs/locks/verify', need: 'locks:read' },
  { method: 'POST', path: '/v1/workspaces/:id/lfs/locks/:lock/unlock', need: 'locks:write' },
  { method: 'POST', path: '/v1/workspaces/:id/lfs/objects/batch', need: 'any-token' },
  { method: 'GET', path: '/v1/workspaces/:id/lfs/objects/:oid{[0-9a-f]+}', need: 'anyone' },
];
