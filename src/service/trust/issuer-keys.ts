import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { z } from '@hono/zod-openapi';
import { createRemoteJWKSet, customFetch } from 'jose';
import { parseJson } from '../contract/validate.ts';
import { checkTargetAddresses, parseTarget } from '../outbound/target.ts';
import { lookupAmong, type TargetCheck } from '../outbound/target-address.ts';
import { readLimited } from '../platform/read-limited.ts';
import { quoteForLog } from '../platform/safe-text.ts';
import { connectionErrorText } from '../platform/system-errors.ts';

export type IssuerKey = Awaited<ReturnType<ReturnType<typeof createRemoteJWKSet>>>;

export type FoundKey =
  | { readonly kind: 'found'; readonly key: IssuerKey }
  /** The issuer has no such key. */
  | { readonly kind: 'unknown' }
  /** No request to the issuer has succeeded yet. `reason` is a sentence. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number };

type KeyHeader = { readonly alg: string; readonly kid: string };

/**
 * Finds the key for the header of a JWT. Call it only for issuers in trust rules, because it sends requests to them.
 */
export type FindKey = (issuer: string, header: KeyHeader) => Promise<FoundKey>;

interface IssuerKeysOptions {
  readonly targets: TargetCheck;
  /** Called when the keys of an issuer could not be fetched. */
  readonly onFailure: (issuer: string, reason: string) => void;
  /** Time limit for discovery and keys together. */
  readonly timeoutMs?: number;
}

/** Minimum time between two requests to an issuer, whatever the cause and the result. */
const cooldownMs = 60_000;

/** Limits how long a withdrawn key is still used, unless the issuer is down. */
const maxAgeMs = 10 * 60_000;

/** The keys of issuers, in the memory of this instance. */
export function createIssuerKeys({ targets, onFailure, timeoutMs = 5_000 }: IssuerKeysOptions): FindKey {
  const issuers = new Map<string, ReturnType<typeof createRemoteJWKSet>>();

  function keysOf(issuer: string) {
    let keys: string | undefined;
    let failure: { readonly at: number; readonly error: IssuerError } | undefined;
    return createRemoteJWKSet(discoveryUrl(issuer), {
      timeoutDuration: timeoutMs,
      cooldownDuration: cooldownMs,
      cacheMaxAge: maxAgeMs,
      // After a failure, the known keys count as fetched again.
      async [customFetch](_url, { signal }) {
        if (keys === undefined && failure !== undefined && Date.now() - failure.at < cooldownMs) throw failure.error;
        try {
          keys = JSON.stringify(await fetchKeys(issuer, targets, signal));
        } catch (error) {
          const reason = reasonOf(error, signal, timeoutMs);
          onFailure(issuer, reason);
          failure = { at: Date.now(), error: new IssuerError(reason) };
          if (keys === undefined) throw failure.error;
        }
        return new Response(keys);
      },
    });
  }

  return async (issuer, header) => {
    const keys = issuers.get(issuer) ?? keysOf(issuer);
    issuers.set(issuer, keys);
    try {
      return { kind: 'found', key: await keys(header) };
    } catch (error) {
      if (!(error instanceof IssuerError)) return { kind: 'unknown' };
      const reason = `Could not fetch the keys of the issuer ${issuer}: ${error.message}`;
      return { kind: 'unavailable', reason, retryAfterSeconds: cooldownMs / 1_000 };
    }
  };
}

const discoveryUrl = (issuer: string): URL => new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);

/** The beginning of a sentence for the log. */
export const noKey = (issuer: string, { alg, kid }: KeyHeader): string =>
  `Key ${quoteForLog(kid)} for ${alg} is not among the keys of the issuer ${issuer}`;

/** The message completes "Could not fetch the keys of the issuer …: ". */
class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/** OpenID Connect Discovery 1.0, section 3. */
const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** RFC 7517, section 5. The content of the keys is validated by jose. */
const keySetSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().exactOptional() })).min(1),
});

async function fetchKeys(issuer: string, check: TargetCheck, signal: AbortSignal) {
  const discovered = await getJson(discoveryUrl(issuer).href, discoverySchema, check, signal);
  // Section 4.3: otherwise one issuer could impersonate another.
  if (discovered.issuer !== issuer) {
    throw new IssuerError(`its discovery document names another issuer: ${quoteForLog(discovered.issuer)}`);
  }
  return getJson(discovered.jwks_uri, keySetSchema, check, signal);
}

async function getJson<T>(address: string, schema: z.ZodType<T>, check: TargetCheck, signal: AbortSignal): Promise<T> {
  const target = parseTarget(address);
  if (!target.ok) throw new IssuerError(`its URL cannot be used. ${target.reason}`);
  const { href: url, hostname } = target.value;
  const addresses = await check.addressesOf(hostname, `issuer ${hostname}`, signal);
  const checked = checkTargetAddresses(target.value, addresses, check);
  if (!checked.ok) throw new IssuerError(checked.reason);
  const response = await get(url, lookupAmong(addresses), signal);
  const { statusCode: status = 0 } = response;
  if (status !== 200) {
    response.destroy();
    const what =
      status >= 300 && status < 400 ? `the redirect ${status}, which is not followed` : `the status ${status}`;
    throw new IssuerError(`${url} returned ${what}`);
  }
  const parsed = parseJson(schema, String(await readLimited(response, maxResponseBytes, tooLong)));
  if (parsed === undefined) throw new IssuerError(`${url} returned a response that is not valid OpenID Connect`);
  return parsed;
}

/** Sends a GET request, only to the IP addresses that were checked. */
function get(url: string, lookup: LookupFunction, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'workspace-automation' };
  const options = { headers, lookup, signal, agent: false } as const;
  return new Promise((resolve, reject) => {
    (url.startsWith('https:') ? https : http).get(url, options, resolve).on('error', reject);
  });
}

const maxResponseBytes = 1024 * 1024;

const tooLong = (): IssuerError => new IssuerError(`its response is larger than ${maxResponseBytes} bytes`);

function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (error instanceof IssuerError) return error.message;
  if (signal.aborted) return `it did not respond within ${timeoutMs / 1_000} s`;
  return connectionErrorText(error);
}
