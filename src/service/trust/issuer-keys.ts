import { z } from '@hono/zod-openapi';
import { createRemoteJWKSet, customFetch } from 'jose';
import { quoteForLog } from '../../interface/safe-text.ts';
import { parseJson } from '../contract/validate.ts';
import { ResponseTooLong, send } from '../outbound/send.ts';
import type { TargetCheck } from '../outbound/target-address.ts';
import { connectionErrorText } from '../platform/system-errors.ts';

/** Finds the key for the header of a JWT. */
export type IssuerKeys = ReturnType<typeof createRemoteJWKSet>;

interface IssuerKeysOptions {
  readonly targets: TargetCheck;
  /** Called when the keys of an issuer could not be fetched. */
  readonly onFailure: (issuer: string, reason: string) => void;
  /** Time limit for discovery and keys together. */
  readonly timeoutMs?: number;
}

/** The keys of issuers, in the memory of this instance. Only for issuers in trust rules, because it sends requests to them. */
export function createIssuerKeys({ targets, onFailure, timeoutMs = 5_000 }: IssuerKeysOptions) {
  const issuers = new Map<string, IssuerKeys>();

  function keysOf(issuer: string): IssuerKeys {
    let last: string | undefined;
    return createRemoteJWKSet(discoveryUrl(issuer), {
      timeoutDuration: timeoutMs,
      cooldownDuration: 60_000,
      // Limits how long a withdrawn key is still used, unless the issuer is down.
      cacheMaxAge: 10 * 60_000,
      async [customFetch](_url, { signal }) {
        try {
          last = JSON.stringify(await fetchKeys(issuer, targets, signal));
        } catch (error) {
          const reason = reasonOf(error, signal, timeoutMs);
          onFailure(issuer, reason);
          // Running jobs must be able to renew their locks.
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

const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
const maxResponseBytes = 1024 * 1024;

async function getJson<T>(url: string, schema: z.ZodType<T>, check: TargetCheck, signal: AbortSignal): Promise<T> {
  const group = `issuer ${URL.parse(url)?.hostname}`;
  const sent = await send({ url, method: 'GET', headers }, { check, group, maxResponseBytes, signal });
  if (sent.kind !== 'response') {
    throw new IssuerError(sent.kind === 'refused' ? `its URL cannot be used. ${sent.reason}` : 'it was not asked');
  }
  const { response } = sent;
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
  if (error instanceof ResponseTooLong) return `its response is larger than ${maxResponseBytes} bytes`;
  if (signal.aborted) return `it did not respond within ${timeoutMs / 1_000} s`;
  return connectionErrorText(error);
}
