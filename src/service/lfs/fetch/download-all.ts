import { setTimeout as sleep } from 'node:timers/promises';
import { spanOfMs } from '../../../interface/duration.ts';
import { type MissingObject, maxNamedMissing } from '../../../interface/resources.ts';
import { parseRetryAfter } from '../../../interface/retry-after.ts';
import type { MinTransferSpeed } from '../../git/transfer-speed.ts';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import { type FetchedObjects, LfsError } from '../../syncs/lfs-objects.ts';
import type { ObjectStore } from '../object-store.ts';
import { type Offer, requestBatch } from './batch.ts';
import type { StoreConnection } from './connection.ts';
import { onDisk } from './download.ts';
import type { Downloader } from './downloader.ts';
import type { PointedObject } from './pointers.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

/** At a time, of one sync. */
export const parallelDownloads = 8;

const firstBatchSize = 200;

/** Attempts for one object, or one batch, without notable bytes in between. */
const maxAttempts = 5;
const worthMentioning = 1_024 * 1_024;

/** A content that is wrong may have been damaged on the way, or while it lay here half finished. */
const maxWrongContents = 2;

/** After this many connection errors in a row, the store counts as unreachable. */
const maxFailedInARow = 16;

/** The maximum length of a reported path. */
const maxPathLength = 500;

/** Where a store that is busy does not say how long. */
const defaultPauseMs = 5_000;
const minPauseMs = 500;

export interface DownloadAllTerms {
  /** For batches. */
  readonly connection: StoreConnection;
  readonly downloader: Pick<Downloader, 'download'>;
  readonly objects: Pick<ObjectStore, 'find'>;
  readonly branch: string;
  /** For a store that grants access for a limited time: asked once more. */
  readonly findStore: () => Promise<Store>;
  readonly minSpeed: MinTransferSpeed;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  /** Before an attempt is repeated for the first time; each further time it is twice as long. */
  readonly backoffMs: number;
  /** How long a store may ask to wait while nothing arrives. */
  readonly maxSilenceMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (received: FetchedObjects['received']) => void;
}

interface Item {
  readonly object: PointedObject;
  attempts: number;
  wrongContents: number;
  /** How much of it there is. */
  received: number;
}

interface Ready {
  readonly item: Item;
  readonly offer: Offer & { readonly kind: 'download' };
}

/** Downloads objects, several at a time, each until it is stored or has failed. */
export async function downloadAll(
  terms: DownloadAllTerms,
  wanted: readonly PointedObject[],
): Promise<Pick<FetchedObjects, 'received' | 'missing'>> {
  const { connection, downloader, objects, branch, freeDisk, backoffMs, maxSilenceMs } = terms;
  const ending = new AbortController();
  const signal = AbortSignal.any([terms.signal, ending.signal]);
  const now = (): number => performance.now();

  // A large one that is left for the end would keep all others waiting.
  const bySize = wanted.toSorted((one, other) => other.size - one.size);
  const queue: Item[] = bySize.map((object) => ({ object, attempts: 0, wrongContents: 0, received: 0 }));
  const ready: Ready[] = [];
  const received = { objects: 0, bytes: 0 };
  const named: MissingObject[] = [];
  let missing = 0;
  let failedInARow = 0;
  let batchSize = firstBatchSize;
  let pausedUntil = 0;
  let lastProgress = now();
  let wasRefused = false;
  let store = await terms.findStore();

  const unreachable = (reason: string): LfsError =>
    new LfsError(`The LFS store at ${store.endpoint.origin}${store.endpoint.pathname} cannot be reached: ${reason}.`);

  function checkDisk(): void {
    if (!freeDisk.isLow()) return;
    const reason = `The disk of the service is nearly full: less than ${freeDisk.reserve} are free. Make room, or let syncs fetch less.`;
    ending.abort(new LfsError(reason));
  }

  function setReceived(item: Item, bytes: number): void {
    if (bytes > item.received) lastProgress = now();
    received.bytes += bytes - item.received;
    item.received = bytes;
    terms.onProgress(received);
  }

  function land(item: Item): void {
    failedInARow = 0;
    received.objects += 1;
    setReceived(item, item.object.size);
  }

  function lose(item: Item, detail: string): void {
    lastProgress = now();
    missing += 1;
    const { path, oid, size } = item.object;
    if (named.length < maxNamedMissing)
      named.push({ path: path.slice(0, maxPathLength).toWellFormed(), oid, size, detail });
    setReceived(item, 0);
  }

  function loseForGood(item: Item, reason: string): void {
    failedInARow = 0;
    lose(item, reason);
  }

  async function retry(item: Item, reason: string): Promise<void> {
    item.attempts += 1;
    if (item.attempts < maxAttempts) {
      await sleep(backoffMs * 2 ** (item.attempts - 1), undefined, { signal });
      queue.push(item);
      return;
    }
    failedInARow += 1;
    if (failedInARow >= maxFailedInARow)
      throw unreachable(`${failedInARow} objects in a row failed. ${reason}`.replace(/\.$/, ''));
    lose(item, reason);
  }

  /** For all downloads: what is busy is the store. */
  function pauseAsAsked(retryAfter: string | undefined): void {
    const pauseMs = Math.max(minPauseMs, parseRetryAfter(retryAfter, Date.now()) ?? defaultPauseMs);
    const silentMs = now() + pauseMs - lastProgress;
    if (silentMs > maxSilenceMs) {
      throw unreachable(`it is busy, and asks to wait until nothing will have arrived for ${spanOfMs(silentMs)}`);
    }
    pausedUntil = Math.max(pausedUntil, now() + pauseMs);
  }

  async function untilUnpaused(): Promise<void> {
    while (pausedUntil > now()) await sleep(pausedUntil - now(), undefined, { signal });
  }

  async function offersFor(items: readonly Item[]): Promise<ReadonlyMap<string, Offer> | undefined> {
    const inTime = AbortSignal.timeout(terms.minSpeed.forMs);
    const request = { branch, objects: items.map(({ object }) => object), now: now() };
    const response = await requestBatch(connection, store, {
      ...request,
      signal: AbortSignal.any([signal, inTime]),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw inTime.aborted ? new StoreError('it does not answer in time') : error;
    });
    switch (response.kind) {
      case 'offers':
        wasRefused = false;
        return response.offers;
      case 'too-many':
        if (items.length === 1) throw unreachable('it does not take a batch of one object (413)');
        batchSize = Math.ceil(items.length / 2);
        return undefined;
      case 'busy':
        pauseAsAsked(response.retryAfter);
        return undefined;
      case 'unauthorized':
        if (wasRefused) throw new LfsError(response.reason);
        wasRefused = true;
        store = await terms.findStore();
        return undefined;
    }
  }

  async function askForMore(): Promise<void> {
    const items = queue.splice(0, batchSize);
    const offers = await offersFor(items).catch(async (error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      batchAttempts += 1;
      if (batchAttempts === maxAttempts) throw unreachable(error.message);
      await sleep(backoffMs * 2 ** (batchAttempts - 1), undefined, { signal });
      return undefined;
    });
    if (offers === undefined) {
      queue.unshift(...items);
      return;
    }
    batchAttempts = 0;
    const troubled: Promise<void>[] = [];
    for (const item of items) {
      const offer = offers.get(item.object.oid) ?? { kind: 'none', reason: 'The store says nothing about it.' };
      if (offer.kind === 'download') ready.push({ item, offer });
      else if (offer.kind === 'none') loseForGood(item, offer.reason);
      else troubled.push(retry(item, offer.reason));
    }
    await Promise.all(troubled);
  }

  let batchAttempts = 0;
  let asking: Promise<void> | undefined;

  /** The next object to download; undefined if none is left. */
  async function next(): Promise<Ready | undefined> {
    for (;;) {
      await untilUnpaused();
      const first = ready.shift();
      if (first !== undefined) return first;
      if (asking === undefined && queue.length === 0) return undefined;
      asking ??= askForMore().finally(() => {
        asking = undefined;
      });
      await asking;
    }
  }

  async function attempt({ item, offer }: Ready): Promise<void> {
    const { object } = item;
    // A sync of another branch may have been first, or the address may have ended while it waited.
    if ((await onDisk(objects.find(object.oid))) !== undefined) return land(item);
    if (offer.endsAt <= now()) {
      queue.push(item);
      return;
    }
    const before = item.received;
    function onReceived(bytes: number): void {
      setReceived(item, bytes);
      checkDisk();
    }
    checkDisk();
    signal.throwIfAborted();
    const result = await downloader.download(offer, object, { signal, onReceived });
    if (item.received - before >= worthMentioning) item.attempts = 0;
    switch (result.kind) {
      case 'landed':
        return land(item);
      case 'none':
        return loseForGood(item, result.reason);
      case 'wrong-content':
        item.wrongContents += 1;
        if (item.wrongContents >= maxWrongContents) return loseForGood(item, result.reason);
        queue.push(item);
        return;
      case 'busy':
        pauseAsAsked(result.retryAfter);
        queue.push(item);
        return;
      case 'unauthorized':
        if (item.attempts + 1 === maxAttempts) return loseForGood(item, result.reason);
        return retry(item, result.reason);
      case 'transient':
        return retry(item, result.reason);
    }
  }

  async function work(): Promise<void> {
    try {
      for (let one = await next(); one !== undefined; one = await next()) await attempt(one);
    } catch (error) {
      ending.abort(error);
      throw error;
    }
  }

  const ended = await Promise.allSettled(Array.from({ length: parallelDownloads }, work));
  terms.signal.throwIfAborted();
  if (ending.signal.aborted) throw ending.signal.reason;
  // One that failed has ended all others.
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { received, missing: { count: missing, named } };
}
