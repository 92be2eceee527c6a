import type { Scope } from '../../../src/service/contract/scopes.ts';

/** The access that a request requires. Deliberately repeated here, independent of the code. */
export type Need = 'anyone' | 'any-token' | Scope;

export interface ExpectedOperation {
  readonly operationId: string;
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly need: Need;
  /** A valid body, if the operation has one. */
  readonly body?: unknown;
  /** Status of an authorized request to an empty workspace without a remote. It is 415 if the body is missing. */
  readonly letIn: number;
}

type Row = readonly [string, ExpectedOperation['method'], path: string, Need, letIn: number, body?: unknown];

const rows: readonly Row[] = [
  ['listWorkspaces', 'GET', '/v1/workspaces', 'any-token', 200],
  ['listBranches', 'GET', '/v1/workspaces/{id}/branches', 'any-token', 503],
  ['getToken', 'GET', '/v1/token', 'any-token', 200],
  ['exchangeToken', 'POST', '/v1/token', 'anyone', 400],
  ['startSync', 'POST', '/v1/workspaces/{id}/sync', 'sync', 415, { branch: 'main' }],
  ['getSync', 'GET', '/v1/workspaces/{id}/syncs/{sync_id}', 'sync', 404],
  ['receivePush', 'POST', '/v1/workspaces/{id}/push/{forge}', 'anyone', 404],
  ['listLocks', 'GET', '/v1/workspaces/{id}/locks', 'locks:read', 200],
  ['acquireLock', 'POST', '/v1/workspaces/{id}/locks', 'locks:write', 415, { path: 'a', type: 'exclusive', ttl: '1h' }],
  [
    'putLease',
    'PUT',
    '/v1/workspaces/{id}/leases/{lease}',
    'locks:write',
    415,
    { paths: ['a'], type: 'exclusive', ttl: '1h' },
  ],
  ['getLease', 'GET', '/v1/workspaces/{id}/leases/{lease}', 'locks:read', 404],
  ['renewLease', 'POST', '/v1/workspaces/{id}/leases/{lease}/renew', 'locks:write', 415, { ttl: '1h' }],
  ['endLease', 'DELETE', '/v1/workspaces/{id}/leases/{lease}', 'locks:write', 204],
  ['listQueue', 'GET', '/v1/workspaces/{id}/queue', 'locks:read', 200],
  ['askForLock', 'POST', '/v1/workspaces/{id}/queue', 'locks:write', 415, { path: 'a' }],
  ['releaseLock', 'DELETE', '/v1/workspaces/{id}/locks/{path}', 'locks:write', 404],
  ['listPools', 'GET', '/v1/workspaces/{id}/pools', 'locks:read', 200],
  ['getPool', 'GET', '/v1/workspaces/{id}/pools/{name}', 'locks:read', 404],
  ['registerHook', 'POST', '/v1/workspaces/{id}/hooks', 'hooks:write', 415, { url: 'https://ci.example.com/hook' }],
  ['health', 'GET', '/healthz', 'anyone', 200],
  ['readiness', 'GET', '/readyz', 'anyone', 200],
  ['metrics', 'GET', '/metrics', 'any-token', 200],
  ['openapi', 'GET', '/v1/openapi.json', 'anyone', 200],
];

export const expectedOperations: readonly ExpectedOperation[] = rows.map(
  ([operationId, method, path, need, letIn, body]) => ({ operationId, method, path, need, letIn, body }),
);

/** The scopes that each satisfy a required scope. */
export const sufficientFor: Readonly<Record<Scope, readonly Scope[]>> = {
  sync: ['sync', 'admin'],
  'contents:read': ['contents:read', 'sync', 'admin'],
  'locks:read': ['locks:read', 'locks:write', 'locks:admin', 'admin'],
  'locks:write': ['locks:write', 'locks:admin', 'admin'],
  'locks:admin': ['locks:admin', 'admin'],
  'hooks:write': ['hooks:write', 'admin'],
  admin: ['admin'],
};

export const addressIn = (operation: ExpectedOperation, workspace: string): string =>
  operation.path
    .replace('{id}', workspace)
    .replace('{path}', 'a%2Fb')
    .replace('{lease}', 'lease-0123456789')
    .replace('{sync_id}', 'sync_1')
    .replace('{forge}', 'github')
    .replace('{name}', 'seats') + requiredQuery(operation);

/** The parameters without which the operation is refused. */
export const requiredQuery = ({ operationId }: ExpectedOperation): string =>
  operationId === 'listQueue' ? '?path=a' : '';
