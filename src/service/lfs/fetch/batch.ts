import { z } from '@hono/zod-openapi';
import { createRedactor } from '../../../interface/redact.ts';
import { parseJson } from '../../contract/validate.ts';
import { readLimited } from '../../platform/read-limited.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { ObjectName } from '../oid.ts';
import { isBusy, type StoreConnection, transientStatuses } from './connection.ts';
import { headerFields, type Store, storeUrl } from './store.ts';
import { StoreError, toStoreError } from './store-error.ts';

/** Download instructions for an object, or the reason why it has none. */
export type Offer =
  | {
      readonly kind: 'download';
      readonly href: URL;
      readonly headers: Readonly<Record<string, string>>;
      /** True if the request needs no credentials in addition to `headers`. */
      readonly authenticated: boolean;
      readonly endsAt: number;
    }
  | { readonly kind: 'none'; readonly reason: string }
  /** A later request may succeed. */
  | { readonly kind: 'transient'; readonly reason: string };

export type RefusedOffer = Exclude<Offer, { kind: 'download' }>;

export type BatchResponse =
  | { readonly kind: 'offers'; readonly offers: ReadonlyMap<string, Offer> }
  /** The store does not accept this many objects at once. */
  | { readonly kind: 'too-many' }
  | { readonly kind: 'busy'; readonly retryAfter: string | undefined }
  | { readonly kind: 'unauthorized'; readonly reason: string };

const mediaType = 'application/vnd.git-lfs+json';
const maxResponseBytes = 16 * 1_024 * 1_024;

/** https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md */
const responseSchema = z.object({
  transfer: z.string().nullish(),
  objects: z.array(
    z.object({
      oid: z.string(),
      authenticated: z.boolean().nullish(),
      actions: z
        .object({
          download: z.object({ href: storeUrl, header: headerFields, expires_in: z.number().nullish() }).nullish(),
        })
        .nullish(),
      error: z.object({ code: z.number(), message: z.string().nullish() }).nullish(),
    }),
  ),
});

const messageSchema = z.object({ message: z.string() });

interface BatchOptions {
  readonly branch: string | undefined;
  readonly objects: readonly ObjectName[];
  readonly signal: AbortSignal;
}

/** Requests many objects at once. Rejects with an LfsError if a retry would not help. */
export async function requestBatch(
  connection: StoreConnection,
  store: Store,
  { branch, objects, signal }: BatchOptions,
): Promise<BatchResponse> {
  const { origin, pathname } = store.endpoint;
  const now = performance.now();
  const response = await connection.request({
    method: 'POST',
    url: batchUrl(store),
    headers: { ...store.headers, accept: mediaType, 'content-type': mediaType },
    body: JSON.stringify({
      operation: 'download',
      transfers: ['basic'],
      ...(branch !== undefined && { ref: { name: `refs/heads/${branch}` } }),
      objects: objects.map(({ oid, size }) => ({ oid, size })),
      hash_algo: 'sha256',
    }),
    signal,
  });
  const { statusCode: status = 0 } = response;
  const body = readLimited(response, maxResponseBytes, tooLong);
  const text = String(await body.catch((error) => Promise.reject(toStoreError(error))));
  const message = storeMessage(parseJson(messageSchema, text)?.message ?? '', store);
  const refuse = (reason: string): LfsError =>
    new LfsError(`The LFS store at ${origin}${pathname} ${reason}${message}`);
  if (status === 401 || status === 403) {
    const problem =
      Object.keys(store.headers).length === 0
        ? 'requires credentials, and the service has none for it'
        : 'rejects the credentials of the remote';
    return { kind: 'unauthorized', reason: refuse(`${problem} (${status}).`).message };
  }
  if (status === 413) return { kind: 'too-many' };
  if (isBusy(response)) return { kind: 'busy', retryAfter: response.headers['retry-after'] };
  if (transientStatuses.has(status)) throw new StoreError(`it responded with status ${status}`);
  if (status >= 300 && status < 400)
    throw refuse(`responded with a redirect (${status}). Set --lfs-url to its target.`);
  if (status < 200 || status > 299) throw refuse(`responded with status ${status}.`);
  const parsed = parseJson(responseSchema, text);
  if (parsed === undefined) throw refuse('did not respond in the format of the Git LFS batch API.');
  if (parsed.transfer != null && parsed.transfer !== 'basic')
    throw refuse('does not offer basic transfers, the only ones that the service supports.');
  return { kind: 'offers', offers: new Map(parsed.objects.map((object) => [object.oid, offerOf(object, store, now)])) };
}

const tooLong = () => new StoreError(`its response is larger than ${maxResponseBytes / 1_024} KiB`);

/** Shorter lifetimes would cause constant requests for new offers. */
const minLifetimeMs = 60_000;

function offerOf(
  { authenticated, actions, error }: z.infer<typeof responseSchema>['objects'][number],
  store: Store,
  now: number,
): Offer {
  if (error) {
    const what =
      error.code === 404 || error.code === 410
        ? 'The store does not have it.'
        : `The store rejects it (${error.code}).${storeMessage(error.message ?? '', store)}`;
    return transientStatuses.has(error.code) ? { kind: 'transient', reason: what } : { kind: 'none', reason: what };
  }
  const download = actions?.download;
  if (!download) return { kind: 'none', reason: 'The store returned no URL for it.' };
  const { href, header, expires_in } = download;
  const hasOwn = Object.keys(header).some((name) => name.toLowerCase() === 'authorization');
  const isAtStore = href.origin === store.endpoint.origin;
  return {
    kind: 'download',
    href,
    authenticated: authenticated === true,
    headers: { ...(authenticated !== true && !hasOwn && isAtStore && store.headers), ...header },
    endsAt:
      expires_in != null && expires_in > 0
        ? now + Math.max(expires_in * 1_000, minLifetimeMs)
        : Number.POSITIVE_INFINITY,
  };
}

const maxReadMessage = 4_096;
const maxMessageLength = 200;

/** Message of a store for use in an error, with the secrets that were sent to it redacted. */
function storeMessage(message: string, { headers }: Store): string {
  const secrets = Object.values(headers).flatMap((value) => [value, value.replace(/^\S+ +/, '')]);
  const line = createRedactor(secrets)(message.slice(0, maxReadMessage))
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line === '' ? '' : ` It says: ${line.slice(0, maxMessageLength).toWellFormed()}`;
}

const batchUrl = ({ endpoint }: Store): URL => {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/objects/batch`;
  return url;
};
