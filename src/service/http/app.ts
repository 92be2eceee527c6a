import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from 'pino';
import { wantsPage } from '../dashboard/answer.ts';
import { addDashboard, type DashboardParts } from '../dashboard/dashboard.ts';
import { sendErrorPage } from '../dashboard/error-page.ts';
import type { Cidr } from '../ip-address.ts';
import { databaseTrouble, isOrphaned } from '../storage/unavailable.ts';
import { addressOf, createClientAddress } from './client-address.ts';
import type { Environment } from './environment.ts';
import { hasValidHost } from './host.ts';
import { type App, send } from './operation.ts';
import { problemAnswer } from './problem-answer.ts';
import { routingPath } from './raw-target.ts';
import { Refusal, unavailable } from './refusal.ts';
import { commonHeaders } from './response-headers.ts';
import { addHookRoutes, type HookRoutes } from './routes/hooks.ts';
import { addLockListRoute, type LockListRoute } from './routes/lock-list.ts';
import { addLockRoutes, type LockRoutes } from './routes/locks.ts';
import { addOperationRoutes, type OperationRoutes } from './routes/operation.ts';
import { addSyncRoutes, type SyncRoutes } from './routes/syncs.ts';
import { addWorkspaceRoutes, type WorkspaceRoutes } from './routes/workspaces.ts';

export type AppParts = OperationRoutes &
  LockRoutes &
  LockListRoute &
  HookRoutes &
  SyncRoutes &
  WorkspaceRoutes &
  DashboardParts & {
    readonly log: Logger;
    /** Whose X-Forwarded-For is believed. */
    readonly trustedProxies: readonly Cidr[];
  };

/** More than the longest path of a lock, percent-encoded. A client decides how long an address is, up to a limit. */
const longestLoggedPath = 4_096;

/** What any error means to the client. What the service did not foresee is told to the operator alone. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isOrphaned(error)) return new Refusal('not-found', 'The workspace was removed while this was asked for.');
  const trouble = databaseTrouble(error);
  if (trouble !== undefined) {
    return unavailable(`${trouble} Nothing was changed, or it is not known: ask again in a moment.`);
  }
  return new Refusal('internal-error', 'The service made a mistake. Its log tells more under this request id.');
}

function addErrorAnswers(app: App, log: Logger): void {
  app.onError((error, c) => {
    const refusal = asRefusal(error);
    if (error !== refusal) {
      log.error({ request_id: c.get('requestId'), err: error }, 'a request could not be served');
    }
    if (wantsPage(c)) return sendErrorPage(c, refusal);
    return send(c, problemAnswer(refusal.problem, refusal.message, c.get('requestId'), refusal.extras));
  });
}

/** Behind all routes: an address that is known for other methods is 405, any other 404. */
function addUnknownAnswers(app: App): void {
  const methodsOf = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue;
    methodsOf.set(path, (methodsOf.get(path) ?? new Set()).add(method));
  }
  for (const [path, methods] of methodsOf) {
    const allow = [...methods, ...(methods.has('GET') ? ['HEAD'] : [])].sort().join(', ');
    app.all(path, (c) => {
      throw new Refusal('method-not-allowed', `${c.req.method} is not possible here, only ${allow}.`, {
        headers: { allow },
      });
    });
  }
  app.all('*', (c) => {
    throw new Refusal('not-found', `There is nothing at ${JSON.stringify(c.req.path.slice(0, 200))}.`);
  });
}

function observe(app: App, { log, metrics, trustedProxies }: AppParts): void {
  const clientAddress = createClientAddress(trustedProxies);
  app.use(async (c: Context<Environment>, next) => {
    const began = process.hrtime.bigint();
    c.set('requestId', `req_${randomUUID()}`);
    c.set('clientAddress', clientAddress(c.env.incoming));
    await next();
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    const waitedMs = c.get('waitedMs') ?? 0;
    const { method } = c.req;
    // The pattern, not the path: a label for every lock path would grow without end.
    metrics.requests.observe(
      { method: knownMethod(method), route: routePath(c), status: c.res.status },
      seconds - waitedMs / 1e3,
    );
    log.info(
      {
        request_id: c.get('requestId'),
        method,
        // Without the query, in which some clients put what does not belong into a log.
        path: c.req.path.slice(0, longestLoggedPath),
        status: c.res.status,
        duration_ms: Math.round(seconds * 1e6) / 1e3,
        waited_ms: waitedMs === 0 ? undefined : Math.round(waitedMs),
        token: c.get('bearer')?.id,
        origin_address: addressOf(c) ?? undefined,
      },
      'request',
    );
  });
}

function refuseInvalidHost(app: App): void {
  app.use((c, next) => {
    if (!hasValidHost(c.env.incoming)) {
      throw new Refusal('malformed-request', 'A request has exactly one Host header, with a host and perhaps a port.');
    }
    return next();
  });
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const knownMethod = (method: string): string => (methods.has(method) ? method : 'other');

export function createApp(parts: AppParts): App {
  const app: App = new OpenAPIHono<Environment>({
    // Hono's type does not know here that its bindings are those of the Node server.
    getPath: (_request, options) => routingPath((options?.env as HttpBindings | undefined)?.incoming.url ?? '/'),
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token with the scope that the operation names.',
  });
  for (const [name, header] of commonHeaders) app.openAPIRegistry.registerComponent('headers', name, header);
  addErrorAnswers(app, parts.log);
  observe(app, parts);
  refuseInvalidHost(app);
  addWorkspaceRoutes(app, parts);
  addSyncRoutes(app, parts);
  addLockListRoute(app, parts);
  addLockRoutes(app, parts);
  addHookRoutes(app, parts);
  addOperationRoutes(app, parts);
  addDashboard(app, parts);
  addUnknownAnswers(app);
  return app;
}
