import { setTimeout as sleep } from 'node:timers/promises';
import { spanOfMs } from '../../../interface/duration.ts';
import { parseRetryAfter } from '../../../interface/retry-after.ts';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import { type FetchedObjects, LfsError } from '../../syncs/lfs-objects.ts';
import { createObjectStore } from '../object-store.ts';
import type { PointedObject } from '../pointer.ts';
import type { Offer } from './batch.ts';
import { type DownloadResult, onDisk } from './download.ts';
import { startDownloader } from './downloader.ts';
import { type Failures, nextStep } from './next-step.ts';
import type { Offers } from './offers.ts';
import { createTally } from './tally.ts';

const parallelDownloads = 8;

/** Receiving this many bytes resets the failed attempts of an object. */
const notableBytes = 1_024 * 1_024;

/** After this many connection errors in a row, the store counts as unreachable. */
const maxFailedInARow = 16;

/** Pause for a busy store that sends no Retry-After. */
const defaultPauseMs = 5_000;
const minPauseMs = 500;

export interface DownloadAllParts {
  readonly dataFolder: string;
  readonly workspace: string;
  readonly offers: Offers;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  readonly idleMs: number;
  /** Delay before the first retry of an object; doubled for each further one. */
  readonly backoffMs: number;
  /** Maximum time without progress that a busy store may cause. */
  readonly maxSilenceMs: number;
  readonly signal: AbortSignal;
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
  parts: DownloadAllParts,
  wanted: readonly PointedObject[],
  onProgress: (received: FetchedObjects['received']) => void,
): Promise<Pick<FetchedObjects, 'received' | 'missing'>> {
  const { dataFolder, workspace, offers, freeDisk, idleMs, backoffMs, maxSilenceMs } = parts;
  const ending = new AbortController();
  const signal = AbortSignal.any([parts.signal, ending.signal]);
  const objects = createObjectStore(dataFolder, workspace);
  const downloader = startDownloader({ dataFolder, workspace, idleMs, ca: offers.ca, signal }, offers.guard);
  const now = (): number => performance.now();
  const tally = createTally(now, onProgress);
  // Largest first: a large object at the end would be downloaded alone.
  const queue: Item[] = wanted
    .toSorted((one, other) => other.size - one.size)
    .map((object) => ({ object, failures: { attempts: 0, wrongContents: 0 } }));
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

  /** Applies the result of an attempt to download an object, or an offer without a download. */
  async function apply(item: Item, result: DownloadResult | Exclude<Offer, { kind: 'download' }>): Promise<void> {
    const { object, failures } = item;
    const step = nextStep(failures, result, backoffMs);
    switch (step.kind) {
      case 'stored':
        failedInARow = 0;
        return tally.stored(object);
      case 'missing':
        failedInARow = step.isStore ? failedInARow + 1 : 0;
        if (failedInARow >= maxFailedInARow) {
          throw offers.unreachable(`${failedInARow} objects in a row failed. ${step.reason}`.replace(/\.$/, ''));
        }
        return tally.missing(object, step.reason);
      case 'busy':
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
    const response = await offers.request(
      items.map(({ object }) => object),
      signal,
    );
    if (response?.kind === 'busy') pauseAll(response.retryAfter);
    if (response?.kind !== 'offers') {
      queue.unshift(...items);
      return;
    }
    const refused: Promise<void>[] = [];
    for (const item of items) {
      const offer = response.offers.get(item.object.oid) ?? { kind: 'none', reason: 'The store did not mention it.' };
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
    if ((await onDisk(objects.findIntact(object))) !== undefined) return apply(item, { kind: 'stored' });
    // The offer may have expired in the queue.
    if (offer.endsAt <= now()) {
      queue.push(item);
      return;
    }
    const before = tally.receivedOf(object);
    checkDisk();
    signal.throwIfAborted();
    const result = await downloader.download(offer, object, (bytes) => {
      tally.setReceived(object, bytes);
      checkDisk();
    });
    const isNotable = tally.receivedOf(object) - before >= notableBytes;
    await apply(isNotable ? { object, failures: { ...item.failures, attempts: 0 } } : item, result);
  }

  async function work(): Promise<void> {
    try {
      for (let one = await next(); one !== undefined; one = await next()) await attempt(one);
    } catch (error) {
      ending.abort(error);
    }
  }

  try {
    await Promise.all(Array.from({ length: parallelDownloads }, work));
  } finally {
    await downloader.end();
  }
  signal.throwIfAborted();
  // Otherwise, the signal that the thread follows is never garbage-collected.
  ending.abort();
  return tally.result();
}
