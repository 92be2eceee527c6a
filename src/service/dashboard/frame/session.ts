import type { IncomingMessage } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { type Access, type AccessControl, admitBearer, unauthorized } from '../../access/access.ts';
import { type ApiResponse, Refusal } from '../../contract/response.ts';
import { type Environment, send } from '../../http/context.ts';
import { sessionSecretIn } from '../../sessions/session-cookie.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { seeOther, wantsPage } from './layout.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by requireSession(): the secret from the cookie, and the time of the database in milliseconds. */
    session: { readonly secret: string; readonly now: number };
  }
}

/** Like requireAccess(), for pages: the same scopes and the same rate limit. */
export function requireSession(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const session = await authenticateSession(control.storage, sessionSecretIn(c.env.incoming));
    if (session === undefined) return send(c, withoutSession(c));
    c.set('session', session);
    admitBearer(c, control, session.bearer, access);
    return next();
  };
}

function withoutSession(c: Context<Environment>): ApiResponse {
  if (!wantsPage(c)) throw unauthorized('The session has ended. Sign in again at /sign-in.');
  if (c.req.method !== 'GET') return seeOther('/sign-in?notice=session-ended');
  const to = c.env.incoming.url ?? '/';
  return seeOther(to === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(to)}`);
}

/** Rejects forms that another site made the browser send. Runs first, because checking a header is cheap. */
export const requireSameSite: MiddlewareHandler<Environment> = (c, next) => {
  if (isSameOrigin(c.env.incoming)) return next();
  throw new Refusal(
    'cross-site',
    'This form did not come from a page of this service, so nothing was done. Open the page again and send it from there.',
  );
};

/**
 * Browsers send the origin of a form, and pages cannot forge it. `Sec-Fetch-Site` has the browser's own comparison. It
 * is missing on plain http, except to loopback. Only then is `Origin` compared with `Host`, because a proxy for https
 * may change `Host`.
 */
function isSameOrigin({ headers, headersDistinct }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const host = URL.parse(origin)?.host;
  return host !== undefined && host === headersDistinct['host']?.[0]?.toLowerCase();
}
