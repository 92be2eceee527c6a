import type { IncomingMessage } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import { parse, serialize } from 'hono/utils/cookie';
import { isLoopback } from '../../../interface/loopback.ts';
import { Refusal } from '../../contract/problem.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { type Access, type AccessControl, admitBearer, unauthorized } from '../../http/access.ts';
import { type Environment, send } from '../../http/context.ts';
import { authenticateSession, looksLikeSessionSecret, sessionMs } from '../../sessions/sessions.ts';
import { pageHeaders, seeOther, wantsPage } from './response.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by requireSession(): the secret in the cookie, and the database's time in milliseconds. */
    session: { readonly secret: string; readonly now: number };
  }
}

/** Counterpart of requireAccess() for pages: the same scopes and the same rate limit. */
export function requireSession(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const secret = sessionSecretIn(c.env.incoming);
    const session = secret === undefined ? undefined : await authenticateSession(control.storage, secret);
    if (secret === undefined || session?.kind !== 'known') return send(c, withoutSession(c));
    c.set('session', { secret, now: session.now });
    admitBearer(c, control, session.bearer, access);
    return next();
  };
}

/**
 * A link on another site brings no cookie (SameSite=Strict), even for someone who is signed in. Loading the same address
 * again from a page of ours does.
 */
const reloadingPage: ApiResponse = {
  status: 200,
  headers: pageHeaders,
  body: String(
    html`<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Workspaces</title><p><a href="">Continue</a></p></html>`,
  ),
};

function withoutSession(c: Context<Environment>): ApiResponse {
  if (!wantsPage(c)) throw unauthorized('The session has ended. Sign in again at /sign-in.');
  if (c.req.method !== 'GET') return seeOther('/sign-in?ended=true');
  if (c.req.header('sec-fetch-site') === 'cross-site') return reloadingPage;
  const to = c.env.incoming.url ?? '/';
  return seeOther(to === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(to)}`);
}

/** Comes first, because checking a header costs nothing. */
export const requireSameSite: MiddlewareHandler<Environment> = async (c, next) => {
  refuseOtherSites(c.env.incoming);
  await next();
};

/** Refuses a form that another site made the browser send. */
export function refuseOtherSites(incoming: IncomingMessage): void {
  if (isSameOrigin(incoming)) return;
  throw new Refusal(
    'cross-site',
    'This form did not come from a page of this service, so nothing was done. Open the page again and send it from there.',
  );
}

/**
 * Browsers say where a form comes from, and no page can forge that. `Sec-Fetch-Site` is the browser's own comparison. It is
 * absent on plain http beyond loopback; there `Origin` is compared with `Host`, which a proxy may have changed under https.
 */
function isSameOrigin({ headers, headersDistinct }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const host = URL.parse(origin)?.host;
  return host !== undefined && host === headersDistinct['host']?.[0]?.toLowerCase();
}

export const sessionCookie = (incoming: IncomingMessage, secret: string): string =>
  cookie(incoming, secret, sessionMs / 1_000);

export const endedCookie = (incoming: IncomingMessage): string => cookie(incoming, '', 0);

function cookie(incoming: IncomingMessage, secret: string, maxAge: number): string {
  const secure = speaksHttps(incoming);
  const settings = { path: '/', httpOnly: true, sameSite: 'Strict', secure, maxAge } as const;
  return serialize(secure ? names.secure : names.plain, secret, settings);
}

/** RFC 6265bis section 4.1.3.2: browsers accept this prefix only over https, for this host and all of its paths. */
const names = { secure: '__Host-workspace-session', plain: 'workspace-session' } as const;

/**
 * The secret of the session, if there is one. Over https only the cookie counts that https alone can set: other hosts of the
 * domain, and anyone on the path of a plain connection, can set the other one.
 */
export function sessionSecretIn(incoming: IncomingMessage): string | undefined {
  const all = parse(incoming.headers.cookie ?? '');
  const counted = speaksHttps(incoming) ? [all[names.secure]] : [all[names.secure], all[names.plain]];
  return counted.find((value) => value !== undefined && looksLikeSessionSecret(value));
}

/**
 * Whether the browser uses https, which the service behind a proxy cannot see. Forms say so in their `Origin`. Other
 * requests have none, but `Sec-Fetch-Site` is sent only over https and to loopback (Fetch Metadata, section 2, "potentially
 * trustworthy URL").
 */
function speaksHttps({ headers: { origin, ...headers }, headersDistinct }: IncomingMessage): boolean {
  if (origin !== undefined) return origin.startsWith('https:');
  const host = URL.parse(`http://${headersDistinct['host']?.[0]}`)?.hostname ?? '';
  return headers['sec-fetch-site'] !== undefined && !isLoopback(host);
}
