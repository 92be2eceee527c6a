import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from 'pino';
import { Refusal, toProblemResponse, unavailable } from '../contract/response.ts';
import type { Cidr } from '../platform/ip-address.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { DatabaseClock } from '../storage/timestamp.ts';
import { databaseProblem, isOrphaned } from '../storage/unavailable.ts';
import { createClientAddress } from './client-address.ts';
import { type App, type Environment, send } from './context.ts';
import { hasValidHost, routingPath } from './request-target.ts';

export interface AppParts {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'requests'>;
  readonly trustedProxies: readonly Cidr[];
  readonly databaseClock: Pick<DatabaseClock, 'now'>;
}

export type RefusalRenderer = (c: Context<Environment>, refusal: Refusal) => Response | Promise<Response>;

/** Middleware for every request. The first mounted app with a matching route responds. */
export function createApp(parts: AppParts, mounted: readonly App[], render: RefusalRenderer): App {
  const app: App = new Hono<Environment>({
    // The type of Hono does not say that these are the bindings of the Node server.
    getPath: (_request, options) => routingPath((options?.env as HttpBindings | undefined)?.incoming.url ?? '/'),
  });
  app.onError((error, c) => {
    const refusal = asRefusal(error);
    if (error !== refusal) parts.log.error({ request_id: c.get('requestId'), err: error }, 'request failed');
    return render(c, refusal);
  });
  observe(app, parts);
  app.use((c, next) => {
    if (!hasValidHost(c.env.incoming)) {
      throw new Refusal('malformed-request', 'A request needs exactly one Host header: a host and an optional port.');
    }
    return next();
  });
  for (const each of mounted) app.route('/', each);
  refuseOtherMethods(app);
  app.all('*', (c) => {
    throw new Refusal('not-found', `There is nothing at ${JSON.stringify(c.req.path.slice(0, 200))}.`);
  });
  return app;
}

/** Must be called after all routes: responds 405 to other methods on their paths. */
function refuseOtherMethods(app: App): void {
  const routes = app.routes.filter(({ method }) => method !== 'ALL');
  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) {
    const methods = new Set(ofPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
    const allow = [...methods].sort().join(', ');
    app.all(path, (c) => {
      throw new Refusal('method-not-allowed', `This URL does not support ${c.req.method}, only ${allow}.`, {
        headers: { allow },
      });
    });
  }
}

export const sendProblem: RefusalRenderer = (c, { problem, message, extras }) =>
  send(c, toProblemResponse(problem, message, c.get('requestId'), extras));

/** Response to an error. The cause of an unexpected error appears only in the log. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isOrphaned(error)) return new Refusal('not-found', 'The workspace was removed during this request.');
  const problem = databaseProblem(error);
  if (problem !== undefined) {
    return unavailable(`${problem} The change may or may not have been saved. Try again in a moment.`);
  }
  return new Refusal('internal-error', 'The service failed. Its log has the cause under this request id.');
}

/** Longer than any percent-encoded lock path. Longer paths are truncated, because clients choose the length. */
const maxLoggedPath = 4_096;

function observe(app: App, { log, metrics, trustedProxies, databaseClock }: AppParts): void {
  const clientAddress = createClientAddress(trustedProxies);
  app.use(async (c: Context<Environment>, next) => {
    const startedAt = process.hrtime.bigint();
    c.set('requestId', `req_${randomUUID()}`);
    c.set('clientAddress', clientAddress(c.env.incoming));
    c.set('databaseNow', databaseClock.now);
    await next();
    const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
    const waitedMs = c.get('waitedMs') ?? 0;
    const { method } = c.req;
    const { outgoing } = c.env;
    const status = outgoing.headersSent ? outgoing.statusCode : c.res.status;
    // The route pattern instead of the path: a label per lock path would grow without limit.
    metrics.requests.observe({ method: knownMethod(method), route: routePath(c), status }, seconds - waitedMs / 1e3);
    log.info(
      {
        request_id: c.get('requestId'),
        method,
        // Without the query, which contains secrets of some clients.
        path: c.req.path.slice(0, maxLoggedPath),
        status,
        duration_ms: Math.round(seconds * 1e6) / 1e3,
        waited_ms: waitedMs === 0 ? undefined : Math.round(waitedMs),
        token: c.get('callerId'),
        origin_address: c.get('clientAddress') ?? undefined,
      },
      'request',
    );
  });
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const knownMethod = (method: string): string => (methods.has(method) ? method : 'other');
