import type { Context, MiddlewareHandler } from 'hono';
import { grants, type Scope } from '../../interface/scopes.ts';
import { insufficientScope, Refusal, realm, unavailable } from '../contract/problem.ts';
import type { FreeDisk } from '../runtime/free-disk.ts';
import type { Admission } from '../runtime/limit-rate.ts';
import type { Storage } from '../storage/storage.ts';
import { looksLikeTokenSecret } from '../tokens/secret.ts';
import { authenticate, type Bearer } from '../tokens/tokens.ts';
import { bearerOf, type Environment } from './context.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { RequestScheduler } from './request-scheduler.ts';

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
export const bearerTokenIn = (authorization: string | undefined) => credentialIn(authorization, 'bearer');

/** The password of RFC 7617, after the first colon; undefined without such a header, or with another scheme. */
export function basicPasswordIn(authorization: string | undefined): string | undefined {
  const encoded = credentialIn(authorization, 'basic');
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString();
  return credentials.replace(/^[^:]*:?/, '');
}

export interface AccessControl {
  readonly storage: Storage;
  readonly rateLimiter: RateLimiter;
  readonly scheduler: Pick<RequestScheduler, 'identify' | 'measured' | 'nextTurn'>;
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

/** With `ownReleaseIsFree`, the handler must call `admitRelease`: whether a release is free is known only there. */
export function requireAccess(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
  ownReleaseIsFree = false,
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const bearer = await authenticateRequest(c, control);
    if (ownReleaseIsFree && (access === 'any-token' || grants(bearer.scopes, access))) {
      c.set('bearer', bearer);
      c.set('releaseAdmission', admit(c, control, bearer, 'admitRelease'));
    } else admitBearer(c, control, bearer, access);
    return next();
  };
}

/** Refuses a request beyond the rate limit, unless it would release a lock of the token's own owner. */
export async function admitRelease(c: Context<Environment>, isOwn: () => Promise<boolean>): Promise<void> {
  const admission = c.get('releaseAdmission');
  if (admission.kind === 'refused' && !(await isOwn())) throw tooManyRequests(admission.retryAfterSeconds);
}

/** Must be called when a lock of the token's own owner was released. */
export function refundRelease(c: Context<Environment>, { rateLimiter }: AccessControl): void {
  const admission = c.get('releaseAdmission');
  if (admission.kind === 'admitted') admission.refund();
  c.set('responseHeaders', rateLimiter.headersOf(bearerOf(c).id));
}

/** Sets the caller. Refuses requests beyond the rate limit or without the scope. */
export function admitBearer(
  c: Context<Environment>,
  control: AccessControl,
  bearer: Bearer,
  access: Exclude<Access, 'anyone'>,
): void {
  c.set('bearer', bearer);
  admitToken(c, control, bearer);
  if (access !== 'any-token' && !grants(bearer.scopes, access)) throw insufficientScope(access, bearer.scopes);
}

/** Counts a request against the rate limit of its token, and refuses it above the limit. */
export function admitToken(c: Context<Environment>, control: AccessControl, bearer: Bearer): void {
  const admission = admit(c, control, bearer, 'admit');
  if (admission.kind === 'refused') throw tooManyRequests(admission.retryAfterSeconds);
}

function admit(
  c: Context<Environment>,
  { rateLimiter, scheduler, noteUse }: AccessControl,
  { id }: Bearer,
  kind: 'admit' | 'admitRelease',
): Admission {
  noteUse(id);
  scheduler.identify(c.env.incoming, id);
  const admission = rateLimiter[kind](id);
  c.set('responseHeaders', rateLimiter.headersOf(id));
  return admission;
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
