import type { IncomingMessage } from 'node:http';
import { errorCode, systemErrorText } from '../../platform/system-errors.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { ObjectStore } from '../object-store.ts';
import type { ObjectName } from '../oid.ts';
import type { PartialObject } from '../partial-objects.ts';
import type { Offer } from './batch.ts';
import { isBusy, type StoreConnection, transientStatuses } from './connection.ts';
import { StoreError, toStoreError } from './store-error.ts';

/** Result of one attempt to download an object, as plain data. Each `reason` is a sentence. */
export type DownloadResult =
  | { readonly kind: 'stored' }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'wrong-content'; readonly reason: string }
  /** The URL or its credentials are not valid, or no longer valid. */
  | { readonly kind: 'unauthorized'; readonly reason: string }
  | { readonly kind: 'busy'; readonly retryAfter: string | undefined }
  /** Received bytes are kept. */
  | { readonly kind: 'transient'; readonly reason: string };

interface DownloadOptions {
  readonly connection: StoreConnection;
  readonly objects: ObjectStore;
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** Receives the number of bytes of the object that are present. */
  readonly onReceived: (bytes: number) => void;
}

/** The part of an offer that a download needs. */
export type Download = Pick<Offer & { readonly kind: 'download' }, 'href' | 'headers'>;

/** Makes one attempt. Rejects with an LfsError if no object can be downloaded or stored, and on cancellation. */
export async function download(options: DownloadOptions, offer: Download, object: ObjectName): Promise<DownloadResult> {
  const partial = await onDisk(options.objects.openPartial(object));
  try {
    options.onReceived(partial.offset);
    const unfinished = partial.offset < object.size ? await receive(options, offer, object, partial) : undefined;
    if (unfinished !== undefined) return unfinished;
    const { offset } = partial;
    switch (await onDisk(partial.store())) {
      case 'stored':
        return { kind: 'stored' };
      case 'incomplete':
        return { kind: 'transient', reason: `The store sent only ${offset} of its ${object.size} bytes.` };
      case 'wrong-content':
        return { kind: 'wrong-content', reason: 'The downloaded content does not match its hash.' };
    }
  } finally {
    await onDisk(partial.close());
    options.onReceived(partial.offset);
  }
}

/** A slower download is ended, so that a store cannot hold up a sync forever. */
const minBytesPerMs = 1.024;

async function receive(
  options: DownloadOptions,
  offer: Download,
  { size }: ObjectName,
  partial: PartialObject,
): Promise<DownloadResult | undefined> {
  let arrived = 0;
  const tooSlow = new AbortController();
  const watch = setInterval(() => {
    if (arrived < minBytesPerMs * options.idleMs) tooSlow.abort();
    arrived = 0;
  }, options.idleMs);
  const signal = AbortSignal.any([options.signal, tooSlow.signal]);
  try {
    const response = await requestRange(options, offer, partial.offset, signal);
    // The watch looks only at the end of each window.
    response.setTimeout(options.idleMs, () => tooSlow.abort());
    const refusal = refusalIn(response);
    if (refusal !== undefined) return refusal;
    const begin = beginOf(response, partial.offset);
    if (begin !== partial.offset) await onDisk(partial.restart());
    if (begin === undefined) {
      response.destroy();
      return { kind: 'transient', reason: 'The store sent a different range than requested.' };
    }
    for await (const bytes of response as AsyncIterable<Buffer>) {
      if (partial.offset + bytes.length > size) {
        await onDisk(partial.restart());
        return { kind: 'wrong-content', reason: `The store sent more than its ${size} bytes.` };
      }
      await onDisk(partial.write(bytes));
      arrived += bytes.length;
      options.onReceived(partial.offset);
    }
    return undefined;
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof LfsError) throw error;
    const reason = tooSlow.signal.aborted ? 'it sends too slowly' : toStoreError(error).message;
    return { kind: 'transient', reason: `The store did not send all of it: ${reason}.` };
  } finally {
    clearInterval(watch);
  }
}

/** Converts system errors of the disk to an LfsError. */
export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const reason = systemErrorText(errorCode(error));
    if (reason === undefined) throw error;
    throw new LfsError(`The LFS objects cannot be stored in the data folder: ${reason}.`);
  }
}

/** Stores of Git hosts redirect once, to a bucket. */
const maxRedirects = 3;

/** Headers and credentials of an action are sent only to its own URL, not after a redirect. */
async function requestRange(
  { connection }: DownloadOptions,
  { href, headers }: Download,
  offset: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const own = { 'accept-encoding': 'identity', ...(offset > 0 && { range: `bytes=${offset}-` }) };
  let url = href;
  let sent: Readonly<Record<string, string>> = { ...headers, ...own };
  for (let redirects = 0; ; redirects += 1) {
    const response = await connection.request({ method: 'GET', url, headers: sent, signal });
    const { statusCode: status = 0, headers: responseHeaders } = response;
    if (status < 300 || status > 399 || responseHeaders.location === undefined) return response;
    response.destroy();
    const next = URL.parse(responseHeaders.location, url.href);
    if (redirects === maxRedirects || next === null || !/^https?:$/.test(next.protocol) || next.username !== '') {
      throw new StoreError('it redirects too often, or to a URL that is not http(s)');
    }
    url = next;
    sent = own;
  }
}

/** Classifies a response without content of the object; undefined for one with content. */
function refusalIn(response: IncomingMessage): DownloadResult | undefined {
  const { statusCode: status = 0 } = response;
  if (status === 200 || status === 206 || status === 416) return undefined;
  response.destroy();
  const reason = `The store responded with status ${status}.`;
  if (status === 404 || status === 410) return { kind: 'none', reason: 'The store does not have it.' };
  if (status === 401 || status === 403) return { kind: 'unauthorized', reason };
  if (isBusy(response)) return { kind: 'busy', retryAfter: response.headers['retry-after'] };
  return transientStatuses.has(status) ? { kind: 'transient', reason } : { kind: 'none', reason };
}

/** Whether the body continues the partial object or contains the complete one; undefined for neither. */
function beginOf({ statusCode, headers }: IncomingMessage, offset: number): number | undefined {
  if (statusCode === 200) return 0;
  const [, from] = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  return statusCode === 206 && Number(from) === offset ? offset : undefined;
}
