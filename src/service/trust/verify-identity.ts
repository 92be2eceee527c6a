import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { quoteForLog } from '../../interface/safe-text.ts';
import { parseJson } from '../contract/response.ts';
import { send, sendErrorText, type TargetCheck } from '../outbound/target.ts';

/** Identity tokens of jobs have a few kilobytes. */
export const maxIdentityLength = 16 * 1024;

type IdentityVerification =
  | { readonly kind: 'verified'; readonly identity: Identity }
  /** `reason` is a sentence for the log. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No request to the issuer has succeeded so far. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number };

export interface Identity {
  readonly issuer: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** A hash that identifies the JWT. */
  readonly id: string;
  /** Time in milliseconds since 1970 after which the JWT is no longer accepted. */
  readonly endsAt: number;
}

interface Expected {
  /** Issuers in trust rules. No others are contacted, so that strangers cannot make the service send requests. */
  readonly issuers: ReadonlySet<string>;
  readonly audience: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const algorithms = ['RS256', 'ES256'];

const leewaySeconds = 30;

/** Exchanged JWTs are remembered until they expire, so their lifetime must be limited. */
const maxLifetimeSeconds = 24 * 60 * 60;

/** Verifies that a JWT is signed by an issuer in a trust rule, has the right audience, and is currently valid. */
export const createVerifyIdentity =
  (keysOf: (issuer: string) => IssuerKeys) =>
  async (jwt: string, { issuers, audience, now }: Expected): Promise<IdentityVerification> => {
    const claimed = decode(jwt);
    if (claimed === undefined) return refused(`It is not a JWT, or has more than ${maxIdentityLength} characters.`);
    const { iss: issuer } = claimed;
    if (typeof issuer !== 'string' || !issuers.has(issuer)) {
      return refused(`No trust rule names the issuer ${quoteForLog(issuer)}.`);
    }
    try {
      const { payload: claims } = await jwtVerify(jwt, keysOf(issuer), {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp', 'iat'],
        maxTokenAge: maxLifetimeSeconds,
        clockTolerance: leewaySeconds,
        currentDate: new Date(now),
      });
      const { exp = 0, aud } = claims;
      // Any other recipient of the JWT could use it here.
      if (Array.isArray(aud) && aud.length > 1) return refused(audienceReason(aud, audience));
      if (exp * 1_000 - now > maxLifetimeSeconds * 1_000) {
        return refused('The JWT is valid for more than a day. Identity tokens must expire within a day.');
      }
      const endsAt = (exp + leewaySeconds) * 1_000;
      return { kind: 'verified', identity: { issuer, claims, id: idOf(jwt, claims), endsAt } };
    } catch (error) {
      if (error instanceof IssuerError) {
        const reason = `Could not fetch the keys of the issuer ${issuer}: ${error.message}`;
        return { kind: 'unavailable', reason, retryAfterSeconds: 60 };
      }
      return refused(refusalReason(error, audience));
    }
  };

/** The claims of a JWT, not verified yet. Undefined if it is not a JWT. */
function decode(jwt: string): JWTPayload | undefined {
  if (jwt.length > maxIdentityLength) return undefined;
  try {
    return decodeJwt(jwt);
  } catch {
    return undefined;
  }
}

const refused = (reason: string): IdentityVerification => ({ kind: 'refused', reason });

function refusalReason(error: unknown, audience: string): string {
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud' && error.reason !== 'missing') {
    return audienceReason(error.payload.aud, audience);
  }
  return `The JWT was refused: ${error instanceof errors.JOSEError ? quoteForLog(error.message) : 'unexpected error'}.`;
}

const audienceReason = (aud: unknown, audience: string): string =>
  `The audience of the JWT is ${quoteForLog(aud)}; expected ${audience} alone.`;

/** Derived from `jti`, or else from the signed text. Not from the signature: with ES256, a text has two valid ones. */
function idOf(jwt: string, { iss, jti }: JWTPayload): string {
  const unique = typeof jti === 'string' ? ['jti', jti] : ['signed', jwt.slice(0, jwt.lastIndexOf('.'))];
  return hashOf([iss, ...unique]);
}

export const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

type IssuerKeys = ReturnType<typeof createRemoteJWKSet>;

interface IssuerKeysOptions {
  readonly targets: TargetCheck;
  readonly onFailure: (issuer: string, reason: string) => void;
  /** Time limit for discovery and keys together. */
  readonly timeoutMs?: number;
}

/** The keys of issuers, kept in memory. Only for issuers in trust rules, because it sends requests to them. */
export function createIssuerKeys({ targets, onFailure, timeoutMs = 5_000 }: IssuerKeysOptions) {
  const issuers = new Map<string, IssuerKeys>();

  function keysOf(issuer: string): IssuerKeys {
    let last: string | undefined;
    return createRemoteJWKSet(discoveryUrl(issuer), {
      timeoutDuration: timeoutMs,
      cooldownDuration: 60_000,
      // Limits how long a withdrawn key can still be used, unless the issuer is down.
      cacheMaxAge: 10 * 60_000,
      async [customFetch](_url, { signal }) {
        try {
          last = JSON.stringify(await fetchKeys(issuer, targets, signal));
        } catch (error) {
          const reason = reasonOf(error, signal, timeoutMs);
          onFailure(issuer, reason);
          // With known keys, running jobs must still be able to renew their locks.
          if (last === undefined) throw new IssuerError(reason);
        }
        return new Response(last);
      },
    });
  }

  return (issuer: string): IssuerKeys => {
    const keys = issuers.get(issuer) ?? keysOf(issuer);
    issuers.set(issuer, keys);
    return keys;
  };
}

const discoveryUrl = (issuer: string): URL => new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);

/** The message completes "Could not fetch the keys of the issuer …: ". */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/** OpenID Connect Discovery 1.0, section 3. */
const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** RFC 7517, section 5. jose validates the content of the keys. */
const keySetSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().exactOptional() })).min(1),
});

async function fetchKeys(issuer: string, check: TargetCheck, signal: AbortSignal) {
  const discovered = await getJson(discoveryUrl(issuer).href, discoverySchema, check, signal);
  // Required by section 4.3: otherwise, one issuer could impersonate another.
  if (discovered.issuer !== issuer) {
    throw new IssuerError(`its discovery document names another issuer: ${quoteForLog(discovered.issuer)}`);
  }
  return getJson(discovered.jwks_uri, keySetSchema, check, signal);
}

const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
const maxResponseBytes = 1024 * 1024;

async function getJson<T>(url: string, schema: z.ZodType<T>, check: TargetCheck, signal: AbortSignal): Promise<T> {
  const group = `issuer ${URL.parse(url)?.hostname}`;
  const sent = await send({ url, method: 'GET', headers, check, group, maxResponseBytes, signal });
  if (!sent.ok) throw new IssuerError(`its URL cannot be used. ${sent.reason}`);
  const response = sent.value;
  const { statusCode: status = 0 } = response;
  if (status !== 200) {
    response.destroy();
    const what =
      status >= 300 && status < 400 ? `the redirect ${status}, which is not followed` : `the status ${status}`;
    throw new IssuerError(`${url} returned ${what}`);
  }
  const pieces: Buffer[] = await response.toArray();
  const parsed = parseJson(schema, String(Buffer.concat(pieces)));
  if (parsed === undefined) throw new IssuerError(`${url} returned a response that is not valid OpenID Connect`);
  return parsed;
}

function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (error instanceof IssuerError) return error.message;
  if (signal.aborted) return `it did not respond within ${timeoutMs / 1_000} s`;
  return sendErrorText(error);
}
