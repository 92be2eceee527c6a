import { createHash } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import { quoteForLog } from '../platform/safe-text.ts';
import { IssuerError, type IssuerKeys } from './issuer-keys.ts';

/** Identity tokens of jobs have a few kilobytes. */
export const maxIdentityLength = 16 * 1024;

type IdentityVerification =
  | { readonly kind: 'verified'; readonly identity: Identity }
  /** `reason` is a sentence for the log. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No request to the issuer has succeeded yet. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number };

/** Verified claims about a job. */
export interface Identity {
  readonly issuer: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** A hash that identifies the JWT. */
  readonly id: string;
  /** Time after which the JWT is no longer accepted, in milliseconds since 1970. */
  readonly endsAt: number;
}

interface Expected {
  /** Issuers in trust rules. Others are never contacted, so that strangers cannot make the service send requests. */
  readonly issuers: ReadonlySet<string>;
  readonly audience: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const algorithms = ['RS256', 'ES256'];

/** Tolerance for differences between clocks. */
const leewaySeconds = 30;

/** Exchanged JWTs are remembered until they expire, so their lifetime must be limited. */
const maxLifetimeSeconds = 24 * 60 * 60;

/** Verifies that a JWT is signed by an issuer in a trust rule, has the right audience, and is currently valid. */
export const createVerifyIdentity =
  (keysOf: (issuer: string) => IssuerKeys) =>
  async (jwt: string, { issuers, audience, now }: Expected): Promise<IdentityVerification> => {
    const unverified = decode(jwt);
    if (unverified === undefined) return refused(`It is not a JWT, or has more than ${maxIdentityLength} characters.`);
    const { iss: issuer } = unverified.claims;
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
      // Any other recipient could use the JWT here.
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
      return refused(refusalReason(error, unverified.header, audience));
    }
  };

/** The parts of a JWT, which anyone can choose; undefined if it is not a JWT. */
function decode(jwt: string) {
  if (jwt.length > maxIdentityLength) return undefined;
  try {
    return { header: decodeProtectedHeader(jwt), claims: decodeJwt(jwt) };
  } catch {
    return undefined;
  }
}

const refused = (reason: string): IdentityVerification => ({ kind: 'refused', reason });

function refusalReason(error: unknown, { alg, kid }: ProtectedHeaderParameters, audience: string): string {
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `The JWT is signed with ${quoteForLog(alg)}; only ${algorithms.join(' and ')} are accepted.`;
  if (error instanceof errors.JWKSNoMatchingKey)
    return `Key ${quoteForLog(kid)} for ${alg} is not among the keys of the issuer.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the JWT is invalid.';
  if (error instanceof errors.JWTExpired) {
    return error.claim === 'exp' ? 'The JWT has expired.' : 'The JWT was issued more than a day ago.';
  }
  if (!(error instanceof errors.JWTClaimValidationFailed)) {
    // The message of the error may quote the input.
    return `The JWT cannot be verified (${error instanceof errors.JOSEError ? error.code : 'unexpected'}).`;
  }
  const { claim, reason, payload } = error;
  if (reason === 'missing') return `The JWT has no claim ${claim}.`;
  if (claim === 'aud') return audienceReason(payload.aud, audience);
  if (claim === 'nbf' || claim === 'iat') return `The JWT is from the future (${claim}).`;
  return `The claim ${claim} of the JWT is invalid.`;
}

const audienceReason = (aud: unknown, audience: string): string =>
  `The audience of the JWT is ${quoteForLog(aud)}; expected ${audience} alone.`;

/**
 * Based on `jti`, or otherwise on the signed text. Ignores the signature: for ES256, two are valid for the same text.
 */
function idOf(jwt: string, { iss, jti }: JWTPayload): string {
  const unique = typeof jti === 'string' ? ['jti', jti] : ['signed', jwt.slice(0, jwt.lastIndexOf('.'))];
  return hashOf([iss, ...unique]);
}

export const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
