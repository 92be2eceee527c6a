import type { IncomingMessage } from 'node:http';
import { parse, serialize } from 'hono/utils/cookie';
import { looksLikeSessionSecret, sessionMs } from '../../sessions/sessions.ts';
import { speaksHttps } from './same-origin.ts';

/** RFC 6265bis section 4.1.3.2: a browser takes a name with this prefix only over https, from this host, for all of it. */
const names = { secure: '__Host-workspace-session', plain: 'workspace-session' } as const;

const settings = (secure: boolean) =>
  ({ path: '/', httpOnly: true, sameSite: 'Strict', secure }) as const satisfies Parameters<typeof serialize>[2];

export const sessionCookie = (secret: string, secure: boolean): string =>
  serialize(secure ? names.secure : names.plain, secret, { ...settings(secure), maxAge: sessionMs / 1_000 });

export const endedCookie = (secure: boolean): string =>
  serialize(secure ? names.secure : names.plain, '', { ...settings(secure), maxAge: 0 });

/**
 * The secret of the session, if there is one. Over https only the cookie counts that https alone can have set: any other
 * host of the domain, and whoever is on the way of a plain connection, can give the browser the other one.
 */
export function sessionSecretIn(incoming: IncomingMessage): string | undefined {
  const all = parse(incoming.headers.cookie ?? '');
  const counted = speaksHttps(incoming) ? [all[names.secure]] : [all[names.secure], all[names.plain]];
  return counted.find((value) => value !== undefined && looksLikeSessionSecret(value));
}
