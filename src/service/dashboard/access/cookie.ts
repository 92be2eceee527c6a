import { parse, serialize } from 'hono/utils/cookie';
import { looksLikeSessionSecret, sessionMs } from '../../sessions/sessions.ts';

/** RFC 6265bis section 4.1.3.2: a browser takes a name with this prefix only over https, from this host, for all of it. */
const names = { secure: '__Host-workspace-session', plain: 'workspace-session' } as const;

const settings = (secure: boolean) =>
  ({ path: '/', httpOnly: true, sameSite: 'Strict', secure }) as const satisfies Parameters<typeof serialize>[2];

export const sessionCookie = (secret: string, secure: boolean): string =>
  serialize(secure ? names.secure : names.plain, secret, { ...settings(secure), maxAge: sessionMs / 1_000 });

export const endedCookie = (secure: boolean): string =>
  serialize(secure ? names.secure : names.plain, '', { ...settings(secure), maxAge: 0 });

/** The secret of the session, if there is one. Where both are there, the one that only https can have set. */
export function sessionSecretIn(cookies: string | undefined): string | undefined {
  const all = parse(cookies ?? '');
  return [all[names.secure], all[names.plain]].find((value) => value !== undefined && looksLikeSessionSecret(value));
}
