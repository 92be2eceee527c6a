import { setTimeout as sleep } from 'node:timers/promises';
import { spanOfMs } from '../../../interface/duration.ts';
import { parseRetryAfter } from '../../../interface/retry-after.ts';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import { type FetchedObjects, LfsError } from '../../syncs/lfs-objects.ts';
import type { ObjectStore } from '../object-store.ts';
import type { Offer } from './batch.ts';
import { type DownloadResult, onDisk } from './download.ts';
import type { Downloader } from './downloader.ts';
import { type Failures, nextStep } from './next-step.ts';
import { type OffersTerms, openOffers } from './offers.ts';
import type { PointedObject } from './pointers.ts';
import { createTally } from './tally.ts';

/** Parallel downloads of one sync. */
export const parallelDownloads = 8;

/** Receiving this many bytes resets the failed attempts of an object. */
const notableBytes = 1_024 * 1_024;

/** After this many connection errors in a row, the store counts as unreachable. */
const maxFailedInARow = 16;

/** Pause for a busy store that sends no Retry-After. */
const defaultPauseMs = 5_000;
const minPauseMs = 500;

export interface DownloadAllTerms extends OffersTerms {
  readonly downloader: Pick<Downloader, 'download'>;
  readonly objects: Pick<ObjectStore, 'find'>;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  /** Maximum time without progress that a busy store may cause. */
  readonly maxSilenceMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (received: FetchedObjects['received']) => void;
}

interface Item {
  readonly object: PointedObject;
  readonly failures: Failures;
}

interface Ready extends Item {
  readonly offer: Offer & { readonly kind: 'download' };
}

/** Downloads objects, several at a time, each until it is stored or has failed. */
export async function downloadAll(
  terms: DownloadAllTerms,
  wanted: readonly PointedObject[],
): Promise<Pick<FetchedObjects, 'received' | 'missing'>> {
  const { downloader, objects, freeDisk, backoffMs, maxSilenceMs } = terms;
  const ending = new AbortController();
  const signal = AbortSignal.any([terms.signal, ending.signal]);
  const now = (): number => performance.now();
  const tally = createTally(now, terms.onProgress);
  const offers = await openOffers(terms, { signal, onBusy: pauseAll });
  const noFailures: Failures = { attempts: 0, wrongContents: 0 };
  // Largest first: a large object at the end would be downloaded alone.
  const queue: Item[] = wanted
    .toSorted((one, other) => other.size - one.size)
    .map((object) => ({ object, failures: noFailures }));
  const ready: Ready[] = [];
  let failedInARow = 0;
  let pausedUntil = 0;

  /** Pauses all downloads, because the store is busy. */
  function pauseAll(retryAfter: string | undefined): void {
    const pauseMs = Math.max(minPauseMs, parseRetryAfter(retryAfter, Date.now()) ?? defaultPauseMs);
    const silentMs = now() + pauseMs - tally.lastProgress();
    if (silentMs > maxSilenceMs) {
      throw offers.unreachable(
        `it is busy, and asks for a pause after which nothing will have arrived for ${spanOfMs(silentMs)}`,
      );
    }
    pausedUntil = Math.max(pausedUntil, now() + pauseMs);
  }

  async function apply(item: Item, result: DownloadResult | Exclude<Offer, { kind: 'download' }>): Promise<void> {
    const { object, failures } = item;
    const step = nextStep(failures, result, backoffMs);
    switch (step.kind) {
      case 'landed':
        failedInARow = 0;
        return tally.landed(object);
      case 'missing':
        failedInARow = step.isStore ? failedInARow + 1 : 0;
        if (failedInARow >= maxFailedInARow) {
          throw offers.unreachable(`${failedInARow} objects in a row failed. ${step.detail}`.replace(/\.$/, ''));
        }
        return tally.missing(object, step.detail);
      case 'pause':
        pauseAll(step.retryAfter);
        queue.push(item);
        return;
      case 'retry':
        if (step.delayMs > 0) await sleep(step.delayMs, undefined, { signal });
        queue.push({ object, failures: step.failures });
        return;
    }
  }

  async function requestOffers(): Promise<void> {
    const items = queue.splice(0, offers.batchSize());
    const offered = await offers.request(items.map(({ object }) => object));
    if (offered === undefined) {
      queue.unshift(...items);
      return;
    }
    const refused: Promise<void>[] = [];
    for (const item of items) {
      const offer = offered.get(item.object.oid) ?? { kind: 'none', reason: 'The store did not mention it.' };
      if (offer.kind === 'download') ready.push({ ...item, offer });
      else refused.push(apply(item, offer));
    }
    await Promise.all(refused);
  }

  let requesting: Promise<void> | undefined;

  /** The next object to download; undefined if none is left. */
  async function next(): Promise<Ready | undefined> {
    for (;;) {
      while (pausedUntil > now()) await sleep(pausedUntil - now(), undefined, { signal });
      const first = ready.shift();
      if (first !== undefined) return first;
      if (requesting === undefined && queue.length === 0) return undefined;
      requesting ??= requestOffers().finally(() => {
        requesting = undefined;
      });
      await requesting;
    }
  }

  function checkDisk(): void {
    if (!freeDisk.isLow()) return;
    const reason = `The disk of the service is nearly full: less than ${freeDisk.reserve} are free. Free disk space, or let syncs fetch less.`;
    ending.abort(new LfsError(reason));
  }

  async function attempt({ offer, ...item }: Ready): Promise<void> {
    const { object } = item;
    // A sync of another branch may have stored it.
    if ((await onDisk(objects.find(object.oid))) !== undefined) return apply(item, { kind: 'landed' });
    // The offer may have expired in the queue.
    if (offer.endsAt <= now()) {
      queue.push(item);
      return;
    }
    const before = tally.receivedOf(object);
    function onReceived(bytes: number): void {
      tally.setReceived(object, bytes);
      checkDisk();
    }
    checkDisk();
    signal.throwIfAborted();
    const result = await downloader.download(offer, object, { signal, onReceived });
    const isNotable = tally.receivedOf(object) - before >= notableBytes;
    await apply(isNotable ? { object, failures: { ...item.failures, attempts: 0 } } : item, result);
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
  // A failed worker has ended all others.
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return tally.result();
}
