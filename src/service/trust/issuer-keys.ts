import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { z } from '@hono/zod-openapi';
import { createLocalJWKSet } from 'jose';
import { parseJson } from '../contract/validate.ts';
import { checkTargetAddresses, parseTarget } from '../outbound/target.ts';
import { lookupAmong, type TargetCheck } from '../outbound/target-address.ts';
import { readLimited } from '../platform/read-limited.ts';
import { quoteForLog } from '../platform/safe-text.ts';
import { connectionErrorText } from '../platform/system-errors.ts';
import { createOnce } from '../runtime/once.ts';

export type IssuerKey = Awaited<ReturnType<ReturnType<typeof createLocalJWKSet>>>;

export type FoundKey =
  | { readonly kind: 'found'; readonly key: IssuerKey }
  /** The issuer has no such key. */
  | { readonly kind: 'unknown' }
  /**
   * The request to the issuer failed, or it had no such key at the last one, and cannot be asked again yet. `reason` is
   * a sentence.
   */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number };

type KeyHeader = { readonly alg: string; readonly kid: string };

/**
 * Finds the key for the header of a JWT. Call it only for issuers in trust rules, because it sends requests to them.
 */
export type FindKey = (issuer: string, header: KeyHeader) => Promise<FoundKey>;

interface IssuerKeysOptions {
  readonly targets: TargetCheck;
  /** Counts milliseconds. */
  readonly clock: () => number;
  /** Called when the keys of an issuer could not be fetched. */
  readonly onFailure: (issuer: string, reason: string) => void;
  /** Time limit for discovery and keys together. */
  readonly timeoutMs?: number;
}

/** Minimum time between two requests to an issuer, whatever the cause and the result. */
const minRequestIntervalMs = 60_000;

/** Limits how long a withdrawn key is still used, unless the issuer is down. */
const maxAgeMs = 10 * 60_000;

interface IssuerState {
  keys?: Awaited<ReturnType<typeof fetchKeys>>;
  fetchedAt: number;
  requestedAt: number;
  /** Error of the last request to the issuer. */
  failure?: string | undefined;
}

/** The keys of issuers, in the memory of this instance. */
export function createIssuerKeys({ targets, clock, onFailure, timeoutMs = 5_000 }: IssuerKeysOptions): FindKey {
  const issuers = new Map<string, IssuerState>();
  const once = createOnce<boolean>();

  /** Asks the issuer at most once a minute; concurrent calls share a request. False if the issuer was not asked. */
  const refresh = (issuer: string, known: IssuerState): Promise<boolean> =>
    once(issuer, async () => {
      if (clock() - known.requestedAt < minRequestIntervalMs) return false;
      known.requestedAt = clock();
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        known.keys = await fetchKeys(issuer, targets, signal);
        known.fetchedAt = clock();
        known.failure = undefined;
      } catch (error) {
        known.failure = reasonOf(error, signal, timeoutMs);
        onFailure(issuer, known.failure);
      }
      return true;
    });

  return async (issuer, header) => {
    const never = Number.NEGATIVE_INFINITY;
    const known = issuers.get(issuer) ?? { fetchedAt: never, requestedAt: never };
    issuers.set(issuer, known);
    const has = (): boolean => known.keys?.ids.has(header.kid) === true;
    const isFresh = (!has() || clock() - known.fetchedAt >= maxAgeMs) && (await refresh(issuer, known));
    if (known.keys !== undefined && has()) {
      const key = await known.keys.find(header).catch(() => undefined);
      return key === undefined ? { kind: 'unknown' } : { kind: 'found', key };
    }
    if (known.failure === undefined && isFresh) return { kind: 'unknown' };
    const retryAfterSeconds = Math.max(1, Math.ceil((known.requestedAt + minRequestIntervalMs - clock()) / 1_000));
    const reason =
      known.failure === undefined
        ? `${noKey(issuer, header)}, which were requested less than a minute ago.`
        : `Could not fetch the keys of the issuer ${issuer}: ${known.failure}`;
    return { kind: 'unavailable', reason, retryAfterSeconds };
  };
}

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
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const discovered = await getJson(address, discoverySchema, check, signal);
  // Section 4.3: otherwise one issuer could impersonate another.
  if (discovered.issuer !== issuer) {
    throw new IssuerError(`its discovery document names another issuer: ${quoteForLog(discovered.issuer)}`);
  }
  const set = await getJson(discovered.jwks_uri, keySetSchema, check, signal);
  return { find: createLocalJWKSet(set), ids: new Set(set.keys.map(({ kid }) => kid)) };
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
