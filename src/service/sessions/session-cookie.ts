import type { IncomingMessage } from 'node:http';
import { parse, serialize } from 'hono/utils/cookie';
import { isLoopback } from '../../interface/loopback.ts';
import { sessionMs } from './sessions.ts';

export const sessionCookie = (incoming: IncomingMessage, secret: string): string =>
  cookie(incoming, secret, sessionMs / 1_000);

export const endedCookie = (incoming: IncomingMessage): string => cookie(incoming, '', 0);

function cookie(incoming: IncomingMessage, secret: string, maxAge: number): string {
  const secure = speaksHttps(incoming);
  // Other sites may link to pages, but must not submit forms: see requireSameSite().
  const settings = { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge } as const;
  return serialize(secure ? names.secure : names.plain, secret, settings);
}

/**
 * Browsers accept the prefix only over https, for exactly this host, with the path `/` (RFC 6265bis section 4.1.3.2).
 */
const names = { secure: '__Host-workspace-session', plain: 'workspace-session' } as const;

/**
 * The secret of the session; undefined if missing. Over https, only the cookie with the prefix counts, because it can
 * only be set over https. Other hosts of the domain, and anyone who intercepts plain http, can set the other cookie.
 */
export function sessionSecretIn(incoming: IncomingMessage): string | undefined {
  const all = parse(incoming.headers.cookie ?? '');
  const counted = speaksHttps(incoming) ? [all[names.secure]] : [all[names.secure], all[names.plain]];
  return counted.find((value) => value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value));
}

/**
 * Whether the browser uses https, which a service behind a proxy cannot see. For forms, `Origin` says so. Other
 * requests have no `Origin`, but browsers send `Sec-Fetch-Site` only over https and to loopback (Fetch Metadata,
 * section 2, "potentially trustworthy URL").
 */
function speaksHttps({ headers: { origin, ...headers }, headersDistinct }: IncomingMessage): boolean {
  if (origin !== undefined) return origin.startsWith('https:');
  const host = URL.parse(`http://${headersDistinct['host']?.[0]}`)?.hostname ?? '';
  return headers['sec-fetch-site'] !== undefined && !isLoopback(host);
}
