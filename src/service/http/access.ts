import type { MiddlewareHandler } from 'hono';
import { grants, type Scope } from '../../interface/scopes.ts';
import type { Storage } from '../storage/storage.ts';
import { looksLikeTokenSecret } from '../tokens/secret.ts';
import { authenticate } from '../tokens/tokens.ts';
import type { Environment } from './environment.ts';
import type { createRateLimiter } from './rate-limit.ts';
import { Refusal } from './refusal.ts';

/** What a request needs: nothing, any valid token, or a token with a scope. */
export type Access = 'anyone' | 'any-token' | Scope;

const realm = 'Bearer realm="workspace-service"';

/** Challenges as in RFC 6750 section 3. Quotes cannot be in the text: a token's name is not put into it. */
function unauthorized(detail: string, error?: 'invalid_request' | 'invalid_token'): Refusal {
  const challenge = error === undefined ? realm : `${realm}, error="${error}"`;
  return new Refusal('unauthorized', detail, { headers: { 'www-authenticate': challenge } });
}

export function insufficientScope(needed: Scope, held: readonly Scope[]): Refusal {
  const has = held.length === 0 ? 'no scope' : `only ${held.join(', ')}`;
  return new Refusal('insufficient-scope', `This needs the scope ${needed}, and the token has ${has}.`, {
    headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${needed}"` },
  });
}

function tokenFrom(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthorized('Send an API token in the header "Authorization: Bearer <API_TOKEN>".');
  }
  const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  if (token === undefined) {
    throw unauthorized('The header Authorization has to be "Bearer <API_TOKEN>".', 'invalid_request');
  }
  if (!looksLikeTokenSecret(token)) throw unauthorized('The API token is not known here.', 'invalid_token');
  return token;
}

export interface AccessControl {
  readonly storage: Storage;
  readonly admit: ReturnType<typeof createRateLimiter>;
}

export function requireAccess(
  { storage, admit }: AccessControl,
  access: Exclude<Access, 'anyone'>,
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const authentication = await authenticate(storage, tokenFrom(c.req.header('authorization')));
    if (authentication.kind === 'refused') throw unauthorized(authentication.why, 'invalid_token');
    const { bearer } = authentication;
    c.set('bearer', bearer);

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
    await next();
  };
}
