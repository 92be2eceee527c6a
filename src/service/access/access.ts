import type { Context, MiddlewareHandler } from 'hono';
import { insufficientScope, Refusal, realm, unavailable } from '../contract/response.ts';
import { grants, type Scope } from '../contract/scopes.ts';
import type { Environment } from '../http/context.ts';
import type { RequestLimit } from '../http/request-limit.ts';
import type { FreeDisk } from '../runtime/free-disk.ts';
import { limitRate, type Rate } from '../runtime/limit-rate.ts';
import type { Storage } from '../storage/storage.ts';
import { looksLikeTokenSecret } from '../tokens/secret.ts';
import { authenticate, type Bearer } from '../tokens/tokens.ts';
import { lookUpWorkspace } from './caller.ts';

interface AuthScheme {
  readonly tokenIn: (authorization: string | undefined) => string | undefined;
  /** Advice for a client that sent no credentials. */
  readonly advice: string;
}

/** For git and Git LFS, which support only user names and passwords. */
export const byBearerOrPassword: AuthScheme = {
  tokenIn: (authorization) => credentialIn(authorization, 'bearer') ?? basicPasswordIn(authorization),
  advice:
    'Sign in with an API token as the password, with any user name, or in the header "Authorization: Bearer <API_TOKEN>".',
};

/** The password of RFC 7617, after the first colon. */
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
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  /** Default: Bearer only. */
  readonly authScheme?: AuthScheme;
}

const fullDiskRetryAfterSeconds = 10;

/**
 * For requests that create something. Releases, renewals and removals are allowed, because they free space or extend
 * locks. A request that was already carried out may be repeated: its client needs the response to release the lock.
 */
export async function requireFreeDisk(
  { freeDisk }: AccessControl,
  wasCarriedOut: () => Promise<boolean> = async () => false,
): Promise<void> {
  if (!freeDisk.isLow() || (await wasCarriedOut())) return;
  throw unavailable(
    `The disk of the service has less than ${freeDisk.reserve} free, so it accepts no new work. Locks can still be released and renewed. Try again later, or ask the operator to free disk space.`,
    fullDiskRetryAfterSeconds,
  );
}

export type Access = 'anyone' | 'any-token' | Scope;

export function requireAccess(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
  /** `never`: releases are not refused for their rate, and do not count. For empty ones, see admitEmptyRelease(). */
  charge?: 'never',
): MiddlewareHandler<Environment> {
  const { tokenIn } = control.authScheme ?? byBearer;
  return async (c, next) => {
    // Together with the token, to save a round trip to the database.
    if (looksLikeTokenSecret(tokenIn(c.req.header('authorization')) ?? '')) lookUpWorkspace(c, control.storage);
    const bearer = await authenticateRequest(c, control);
    const mayAccess = access === 'any-token' || grants(bearer.scopes, access);
    if (charge === 'never' && mayAccess) identify(c, control, bearer);
    else admitBearer(c, control, bearer, access);
    return next();
  };
}

/** Sets the caller. Refuses requests beyond the rate limit or without the scope. */
export function admitBearer(
  c: Context<Environment>,
  control: AccessControl,
  bearer: Bearer,
  access: Exclude<Access, 'anyone'>,
): void {
  admitToken(c, control, bearer);
  if (access !== 'any-token' && !grants(bearer.scopes, access)) throw insufficientScope(access, bearer.scopes);
}

/** Counts a request against the rate limit of its token, and refuses it above the limit. */
export function admitToken(c: Context<Environment>, control: AccessControl, bearer: Bearer): void {
  const seconds = control.rateLimiter.charge(bearer.id);
  identify(c, control, bearer);
  refuseUntil(seconds, 'Too many requests with this token.');
}

/**
 * Requests that released nothing count separately, so that a job that has used up its limit and lost the responses to
 * its requests can repeat each release, and end leases that it may have.
 */
export function admitEmptyRelease({ rateLimiter }: Pick<AccessControl, 'rateLimiter'>, bearer: Bearer): void {
  const seconds = rateLimiter.charge(`${bearer.id} released nothing`);
  refuseUntil(seconds, 'Too many requests with this token to release locks that it does not hold.');
}

export function refuseUntil(seconds: number, reason: string): void {
  if (seconds === 0) return;
  throw new Refusal('rate-limited', `${reason} Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

function identify(c: Context<Environment>, { rateLimiter, requestLimit }: AccessControl, bearer: Bearer): void {
  c.set('bearer', bearer);
  c.set('callerId', bearer.id);
  c.set('responseHeaders', rateLimiter.headersOf(bearer.id));
  requestLimit.identify(c.env.incoming, bearer.id);
}

export type RateLimit = Rate | null;

interface RateLimiter {
  /** Charges the token for a request and returns 0, or returns the seconds to wait until it can be charged. */
  readonly charge: (tokenId: string) => number;
  readonly headersOf: (tokenId: string) => Readonly<Record<string, string>>;
}

export function createRateLimiter(limit: RateLimit, clock?: () => number): RateLimiter {
  if (limit === null) return { charge: () => 0, headersOf: () => ({}) };
  const { perSecond, burst } = limit;
  const { charge, remaining } = limitRate(limit, clock);
  const policy = `"token";q=${burst};w=${Math.ceil(burst / perSecond)}`;
  return {
    charge,
    headersOf(tokenId) {
      const { charges, seconds } = remaining(tokenId);
      return { 'ratelimit-policy': policy, ratelimit: `"token";r=${charges};t=${seconds}` };
    },
  };
}

const byBearer: AuthScheme = {
  tokenIn: (authorization) => credentialIn(authorization, 'bearer'),
  advice: 'Send an API token in the header "Authorization: Bearer <API_TOKEN>".',
};

/** Authenticates a request. Long responses call it again, because the token may have been revoked since. */
export async function authenticateRequest(
  c: Context<Environment>,
  { storage, authScheme = byBearer }: Pick<AccessControl, 'storage' | 'authScheme'>,
): Promise<Bearer> {
  const token = authScheme.tokenIn(c.req.header('authorization'));
  if (token === undefined) throw unauthorized(authScheme.advice);
  if (!looksLikeTokenSecret(token)) throw tokenRefused('Unknown API token.');
  const authentication = await authenticate(storage, token);
  if (!authentication.ok) throw tokenRefused(authentication.reason);
  return authentication.value;
}

const tokenRefused = (detail: string): Refusal => unauthorized(detail, `${realm}, error="invalid_token"`);

/** RFC 6750 section 3.1: the challenge has no error code if the request has no token, or uses another scheme. */
export const unauthorized = (detail: string, challenge: string = realm): Refusal =>
  new Refusal('unauthorized', detail, { headers: { 'www-authenticate': challenge } });

function credentialIn(authorization: string | undefined, wanted: 'bearer' | 'basic'): string | undefined {
  const [, scheme = '', credential = ''] = /^(\S*) *(.*)$/s.exec(authorization ?? '') ?? [];
  return scheme.toLowerCase() === wanted ? credential : undefined;
}
