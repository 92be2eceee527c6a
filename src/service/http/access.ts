import type { Context, MiddlewareHandler } from 'hono';
import { grants, type Scope } from '../../interface/scopes.ts';
import { insufficientScope, Refusal, realm, unavailable } from '../contract/problem.ts';
import type { FreeDisk } from '../runtime/free-disk.ts';
import type { Storage } from '../storage/storage.ts';
import { looksLikeTokenSecret } from '../tokens/secret.ts';
import { authenticate, type Bearer } from '../tokens/tokens.ts';
import type { Environment } from './context.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { RequestLimit } from './request-limit.ts';

interface AuthScheme {
  readonly tokenIn: (authorization: string | undefined) => string | undefined;
  /** Advice for a client that sends no credentials. */
  readonly advice: string;
}

/** For git and Git LFS, which support only user names and passwords. */
export const byBearerOrPassword: AuthScheme = {
  tokenIn: (authorization) => bearerTokenIn(authorization) ?? basicPasswordIn(authorization),
  advice:
    'Sign in with an API token as the password, with any user name, or in the header "Authorization: Bearer <API_TOKEN>".',
};

/** The credential in a Bearer header; undefined without such a header, or for another scheme. */
const bearerTokenIn = (authorization: string | undefined) => credentialIn(authorization, 'bearer');

/** The password of RFC 7617, after the first colon; undefined without such a header, or with another scheme. */
function basicPasswordIn(authorization: string | undefined): string | undefined {
  const encoded = credentialIn(authorization, 'basic');
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString();
  return credentials.replace(/^[^:]*:?/, '');
}

export interface AccessControl {
  readonly storage: Storage;
  readonly rateLimiter: RateLimiter;
  readonly requestLimit: Pick<RequestLimit, 'identify'>;
  readonly noteUse: (tokenId: string) => void;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  /** Default: Bearer only. */
  readonly authScheme?: AuthScheme;
}

const fullDiskRetryAfterSeconds = 10;

/** For requests that create something. Releases, renewals and removals are allowed: they free space or extend locks. */
export function requireFreeDisk({ freeDisk }: AccessControl): void {
  if (!freeDisk.isLow()) return;
  throw unavailable(
    `The disk of the service has less than ${freeDisk.reserve} free, so it accepts no new work. Locks can still be released and renewed. Try again later, or ask the operator to free disk space.`,
    fullDiskRetryAfterSeconds,
  );
}

export type Access = 'anyone' | 'any-token' | Scope;

/**
 * `charge: 'unless-free'` is for releases: the handler calls `makeFree` if they are free, and `refuseBeyondLimit` before it
 * stores anything.
 */
export type Charge = 'always' | 'unless-free';

export function requireAccess(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
  charge: Charge = 'always',
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const bearer = await authenticateRequest(c, control);
    if (charge === 'always' || !hasAccess(bearer, access)) {
      admitBearer(c, control, bearer, access);
      return next();
    }
    const admission = control.rateLimiter.admit(bearer.id);
    identify(c, control, bearer);
    c.set('admission', admission);
    await next();
    if (!c.get('isFree') || admission.kind === 'refused') return;
    admission.refund();
    for (const [name, value] of Object.entries(control.rateLimiter.headersOf(bearer.id)))
      c.res.headers.set(name, value);
  };
}

/** Must be called when a lock of the token's own owner was released. */
export const makeFree = (c: Context<Environment>): void => c.set('isFree', true);

export function refuseBeyondLimit(c: Context<Environment>): void {
  const admission = c.get('admission');
  if (admission.kind === 'refused') throw tooManyRequests(admission.retryAfterSeconds);
}

/** Sets the caller. Refuses requests beyond the rate limit or without the scope. */
export function admitBearer(
  c: Context<Environment>,
  control: AccessControl,
  bearer: Bearer,
  access: Exclude<Access, 'anyone'>,
): void {
  admitToken(c, control, bearer);
  if (access !== 'any-token' && !hasAccess(bearer, access)) throw insufficientScope(access, bearer.scopes);
}

const hasAccess = ({ scopes }: Bearer, access: Exclude<Access, 'anyone'>): boolean =>
  access === 'any-token' || grants(scopes, access);

/** Counts a request against the rate limit of its token, and refuses it above the limit. */
export function admitToken(c: Context<Environment>, control: AccessControl, bearer: Bearer): void {
  const admission = control.rateLimiter.admit(bearer.id);
  identify(c, control, bearer);
  if (admission.kind === 'refused') throw tooManyRequests(admission.retryAfterSeconds);
}

function identify(
  c: Context<Environment>,
  { rateLimiter, requestLimit, noteUse }: AccessControl,
  bearer: Bearer,
): void {
  c.set('bearer', bearer);
  c.set('responseHeaders', rateLimiter.headersOf(bearer.id));
  noteUse(bearer.id);
  requestLimit.identify(c.env.incoming, bearer.id);
}

const tooManyRequests = (retryAfterSeconds: number): Refusal =>
  new Refusal('rate-limited', 'Too many requests with this token. Try again after the time in Retry-After.', {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });

const byBearer: AuthScheme = {
  tokenIn: bearerTokenIn,
  advice: 'Send an API token in the header "Authorization: Bearer <API_TOKEN>".',
};

/** Authenticates a request. Long-running responses call it again, because the token may have been revoked. */
export async function authenticateRequest(
  c: Context<Environment>,
  { storage, authScheme = byBearer }: Pick<AccessControl, 'storage' | 'authScheme'>,
): Promise<Bearer> {
  const token = authScheme.tokenIn(c.req.header('authorization'));
  if (token === undefined) throw unauthorized(authScheme.advice);
  if (!looksLikeTokenSecret(token)) throw tokenRefused('Unknown API token.');
  const authentication = await authenticate(storage, token);
  if (authentication.kind === 'refused') throw tokenRefused(authentication.reason);
  return authentication.bearer;
}

const tokenRefused = (detail: string): Refusal => unauthorized(detail, `${realm}, error="invalid_token"`);

/** RFC 6750 section 3.1: the challenge has no error code if the request has no token, or uses another scheme. */
export const unauthorized = (detail: string, challenge: string = realm): Refusal =>
  new Refusal('unauthorized', detail, { headers: { 'www-authenticate': challenge } });

function credentialIn(authorization: string | undefined, wanted: 'bearer' | 'basic'): string | undefined {
  const [, scheme = '', credential = ''] = /^(\S*) *(.*)$/s.exec(authorization ?? '') ?? [];
  return scheme.toLowerCase() === wanted ? credential : undefined;
}
