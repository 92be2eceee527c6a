import type { Context, MiddlewareHandler } from 'hono';
import { grants, type Scope } from '../../interface/scopes.ts';
import type { Storage } from '../storage/storage.ts';
import { looksLikeTokenSecret } from '../tokens/secret.ts';
import { authenticate, type Bearer } from '../tokens/tokens.ts';
import type { Environment } from './environment.ts';
import type { createRateLimiter } from './rate-limit.ts';
import { Refusal } from './refusal.ts';

/** What a request needs: nothing, any valid token, or a token with a scope. */
export type Access = 'anyone' | 'any-token' | Scope;

const realm = 'Bearer realm="workspace-service"';

export const unauthorized = (detail: string, challenge: string = realm): Refusal =>
  new Refusal('unauthorized', detail, { headers: { 'www-authenticate': challenge } });

/** RFC 6750 section 3.1: no error is named to a request that brings no token, or a credential of another scheme. */
const tokenMissing = (detail: string): Refusal => unauthorized(detail, realm);

const tokenRefused = (detail: string): Refusal => unauthorized(detail, `${realm}, error="invalid_token"`);

export function insufficientScope(needed: Scope, held: readonly Scope[]): Refusal {
  const has = held.length === 0 ? 'no scope' : `only ${held.join(', ')}`;
  return new Refusal('insufficient-scope', `This needs the scope ${needed}, and the token has ${has}.`, {
    headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${needed}"` },
  });
}

const howToSend = 'Send an API token in the header "Authorization: Bearer <API_TOKEN>".';

function tokenFrom(authorization: string | undefined): string {
  if (authorization === undefined) throw tokenMissing(howToSend);
  const [, scheme = '', token = ''] = /^(\S*) *(.*)$/s.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'bearer') throw tokenMissing(howToSend);
  if (!looksLikeTokenSecret(token)) throw tokenRefused('The API token is not known here.');
  return token;
}

export interface AccessControl {
  readonly storage: Storage;
  readonly admit: ReturnType<typeof createRateLimiter>;
  /** A request has come in with this token. */
  readonly noteUse: (tokenId: string) => void;
}

/** Sets who asks, or refuses: whoever sends too much, and whoever may not do this. */
export function admitBearer(
  c: Context<Environment>,
  { admit, noteUse }: AccessControl,
  bearer: Bearer,
  access: Exclude<Access, 'anyone'>,
): void {
  c.set('bearer', bearer);
  noteUse(bearer.id);
  const admission = admit(bearer.id);
  c.set('answerHeaders', admission.headers);
  if (admission.kind === 'refused') {
    throw new Refusal(
      'rate-limited',
      'This token has sent too many requests. Send fewer, or wait as Retry-After says.',
      {
        headers: { 'retry-after': String(admission.retryAfterSeconds) },
      },
    );
  }
  if (access !== 'any-token' && !grants(bearer.scopes, access)) throw insufficientScope(access, bearer.scopes);
}

export function requireAccess(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const authentication = await authenticate(control.storage, tokenFrom(c.req.header('authorization')));
    if (authentication.kind === 'refused') throw tokenRefused(authentication.why);
    admitBearer(c, control, authentication.bearer, access);
    await next();
  };
}
