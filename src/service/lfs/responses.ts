import type { Context } from 'hono';
import { problems } from '../../interface/problem.ts';
import { type AccessControl, requireAccess } from '../access/access.ts';
import { requestedWorkspace } from '../access/caller.ts';
import { type ApiResponse, jsonApiResponse, type Refusal } from '../contract/response.ts';
import type { Lock } from '../contract/schemas.ts';
import type { Scope } from '../contract/scopes.ts';
import type { RefusalRenderer } from '../http/app.ts';
import { type App, type Environment, send } from '../http/context.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export const sendLfsError: RefusalRenderer = (c, refusal) => {
  const { lock, queue } = refusal.extras;
  const waiting = queue === undefined || queue.length === 0 ? '' : ` Waiting for it: ${queue.length}.`;
  const response = lfsError(statusOf(refusal), `${refusal.message}${waiting}`, c.get('requestId'), lock);
  return send(c, { ...response, headers: { ...headersOf(refusal), ...response.headers } });
};

/** Clients display only the message, so it includes the time at which the lock was acquired. */
export const lfsError = (status: number, message: string, requestId: string, lock?: Lock): ApiResponse =>
  lfsResponse(status, {
    message: lock === undefined ? message : `${message} It was acquired at ${lock.acquired_at}.`,
    request_id: requestId,
    ...(lock && { lock: lfsLock(lock) }),
  });

/** Format of the Git LFS API: https://github.com/git-lfs/git-lfs/blob/main/docs/api/locking.md */

const mediaType = { 'content-type': 'application/vnd.git-lfs+json' };

export const lfsResponse = (status: number, body: unknown): ApiResponse => jsonApiResponse(status, body, mediaType);

export const lfsLock = ({ id, path, owner, acquired_at }: Lock) => ({
  id,
  path,
  locked_at: acquired_at,
  owner: { name: owner },
});

/**
 * The status for a known URL. If a client gets a 404 or 501 for the list of locks, it assumes a server without locks,
 * and silently disables the check before each push forever (git-lfs, commands/lockverifier.go).
 */
function statusOf({ problem }: Refusal): number {
  switch (problem) {
    case 'not-found':
      return 403;
    case 'internal-error':
      return problems.unavailable.status;
    default:
      return problems[problem].status;
  }
}

/** Next to Bearer, for clients that support only Basic. */
const basic = 'Basic realm="workspace-service"';

function headersOf({ problem, extras: { headers = {} } }: Refusal): Readonly<Record<string, string>> {
  if (problem !== 'unauthorized') return headers;
  return { ...headers, 'www-authenticate': `${headers['www-authenticate']}, ${basic}`, 'lfs-authenticate': basic };
}

export const basePath = '/v1/workspaces/:id/lfs';

interface Route {
  readonly method: 'GET' | 'POST';
  /** Relative to `basePath`. */
  readonly path: `/${string}`;
  readonly access: 'any-token' | Scope;
  readonly charge?: 'never';
  handle(c: Context<Environment>, workspace: FoundWorkspace): Promise<ApiResponse>;
}

export function addRoute(app: App, control: AccessControl, route: Route): void {
  const { method, access, charge, handle } = route;
  const path = basePath + route.path;
  app.on(method, path, requireAccess(control, access, charge));
  app.on(method, path, async (c) => send(c, await handle(c, await requestedWorkspace(c, control.storage))));
}
