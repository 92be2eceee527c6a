import { setTimeout as sleep } from 'node:timers/promises';
import { spanOfMs } from '../../../interface/duration.ts';
import { parseRetryAfter } from '../../../interface/retry-after.ts';
import type { ReferencedObject } from '../pointer.ts';
import type { Offer, RefusedOffer } from './batch.ts';
import type { Failures } from './next-step.ts';
import type { Offers } from './offers.ts';

/** Pause for a busy store that sends no Retry-After. */
const defaultPauseMs = 5_000;
const minPauseMs = 500;

export interface QueuedObject {
  readonly object: ReferencedObject;
  readonly failures: Failures;
}

export interface OfferedObject extends QueuedObject {
  readonly offer: Offer & { readonly kind: 'download' };
}

export interface QueueOptions {
  readonly offers: Offers;
  /** Maximum time without progress that a busy store may cause. */
  readonly maxSilenceMs: number;
  readonly signal: AbortSignal;
}

/** Objects that wait for an offer or a download, largest first: a large one at the end would be downloaded alone. */
export function createDownloadQueue(
  { offers, maxSilenceMs, signal }: QueueOptions,
  wanted: readonly ReferencedObject[],
  lastProgress: () => number,
  onRefused: (item: QueuedObject, offer: RefusedOffer) => Promise<void>,
) {
  const queue: QueuedObject[] = wanted
    .toSorted((one, other) => other.size - one.size)
    .map((object) => ({ object, failures: { attempts: 0, wrongContents: 0 } }));
  const offered: OfferedObject[] = [];
  let requesting: Promise<void> | undefined;
  let pausedUntil = 0;

  /** Pauses all downloads, because the store is busy. */
  function pause(retryAfter: string | undefined): void {
    const now = performance.now();
    const pauseMs = Math.max(minPauseMs, parseRetryAfter(retryAfter, Date.now()) ?? defaultPauseMs);
    const silentMs = now + pauseMs - lastProgress();
    if (silentMs > maxSilenceMs) {
      throw offers.unreachable(
        `it is busy, and asks for a pause after which nothing will have arrived for ${spanOfMs(silentMs)}`,
      );
    }
    pausedUntil = Math.max(pausedUntil, now + pauseMs);
  }

  async function requestOffers(): Promise<void> {
    const items = queue.splice(0, offers.batchSize());
    const objects = items.map(({ object }) => object);
    const response = await offers.request(objects, signal);
    if (response?.kind === 'busy') pause(response.retryAfter);
    if (response?.kind !== 'offers') {
      queue.unshift(...items);
      return;
    }
    const refused: Promise<void>[] = [];
    for (const item of items) {
      const offer = response.offers.get(item.object.oid) ?? { kind: 'none', reason: 'The store did not mention it.' };
      if (offer.kind === 'download') offered.push({ ...item, offer });
      else refused.push(onRefused(item, offer));
    }
    await Promise.all(refused);
  }

  return {
    /** The next object to download; undefined if none is left. */
    async next(): Promise<OfferedObject | undefined> {
      for (;;) {
        while (pausedUntil > performance.now()) await sleep(pausedUntil - performance.now(), undefined, { signal });
        const first = offered.shift();
        if (first !== undefined) return first;
        if (requesting === undefined && queue.length === 0) return undefined;
        requesting ??= requestOffers().finally(() => {
          requesting = undefined;
        });
        await requesting;
      }
    },
    add: (item: QueuedObject): void => void queue.push(item),
    pause,
  };
}
