import type { Scope } from '../../../src/interface/scopes.ts';

/** What a request needs, as DESIGN says it in its row "Scopes": written here a second time, on purpose. */
export type Need = 'anyone' | 'any-token' | Scope;

export interface ExpectedOperation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly need: Need;
  /** A body that is right, where the operation has one. */
  readonly body?: unknown;
  /** What a request to an empty workspace without a remote is answered once it is let in; without a body, 415 is. */
  readonly letIn: number;
}

const noBody = 415;

export const expectedOperations: readonly ExpectedOperation[] = [
  { operationId: 'listWorkspaces', method: 'GET', path: '/v1/workspaces', need: 'any-token', letIn: 200 },
  { operationId: 'listBranches', method: 'GET', path: '/v1/workspaces/{id}/branches', need: 'any-token', letIn: 503 },
  {
    operationId: 'startSync',
    method: 'POST',
    path: '/v1/workspaces/{id}/sync',
    need: 'sync',
    body: { branch: 'main' },
    letIn: noBody,
  },
  { operationId: 'getSync', method: 'GET', path: '/v1/workspaces/{id}/syncs/{sync_id}', need: 'sync', letIn: 404 },
  { operationId: 'listLocks', method: 'GET', path: '/v1/workspaces/{id}/locks', need: 'locks:read', letIn: 200 },
  {
    operationId: 'acquireLock',
    method: 'POST',
    path: '/v1/workspaces/{id}/locks',
    need: 'locks:write',
    body: { path: 'a', type: 'exclusive', ttl: '1h' },
    letIn: noBody,
  },
  {
    operationId: 'releaseLock',
    method: 'DELETE',
    path: '/v1/workspaces/{id}/locks/{path}',
    need: 'locks:write',
    letIn: 404,
  },
  {
    operationId: 'registerHook',
    method: 'POST',
    path: '/v1/workspaces/{id}/hooks',
    need: 'hooks:write',
    body: { url: 'https://ci.example.com/hook' },
    letIn: noBody,
  },
  { operationId: 'health', method: 'GET', path: '/healthz', need: 'anyone', letIn: 200 },
  { operationId: 'readiness', method: 'GET', path: '/readyz', need: 'anyone', letIn: 200 },
  { operationId: 'metrics', method: 'GET', path: '/metrics', need: 'any-token', letIn: 200 },
  { operationId: 'openapi', method: 'GET', path: '/v1/openapi.json', need: 'anyone', letIn: 200 },
];

/** The scopes that let a request in, each alone. */
export const sufficientFor: Readonly<Record<Scope, readonly Scope[]>> = {
  sync: ['sync', 'admin'],
  'locks:read': ['locks:read', 'locks:write', 'locks:admin', 'admin'],
  'locks:write': ['locks:write', 'locks:admin', 'admin'],
  'locks:admin': ['locks:admin', 'admin'],
  'hooks:write': ['hooks:write', 'admin'],
  admin: ['admin'],
};

export const addressIn = ({ path }: ExpectedOperation, workspace: string): string =>
  path.replace('{id}', workspace).replace('{path}', 'a%2Fb').replace('{sync_id}', 'sync_1');
