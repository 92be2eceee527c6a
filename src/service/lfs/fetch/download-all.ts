import { setTimeout as sleep } from 'node:timers/promises';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import { type FetchedObjects, LfsError } from '../../syncs/lfs-objects.ts';
import { createObjectStore } from '../object-store.ts';
import type { ReferencedObject } from '../pointer.ts';
import type { RefusedOffer } from './batch.ts';
import { type DownloadResult, onDisk } from './download.ts';
import { createDownloadQueue, type OfferedObject, type QueuedObject, type QueueOptions } from './download-queue.ts';
import { startDownloader } from './downloader.ts';
import { nextStep } from './next-step.ts';
import { createTally } from './tally.ts';

const parallelDownloads = 8;

/** Receiving this many bytes resets the failed attempts of an object. */
const notableBytes = 1_024 * 1_024;

/** After this many connection errors in a row, the store counts as unreachable. */
const maxFailedInARow = 16;

export interface DownloadAllParts extends QueueOptions {
  readonly dataFolder: string;
  readonly workspace: string;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  readonly idleMs: number;
  /** Delay before the first retry of an object; doubled for each further one. */
  readonly backoffMs: number;
}

/** Downloads objects, several at a time, each until it is stored or has failed. */
export async function downloadAll(
  parts: DownloadAllParts,
  wanted: readonly ReferencedObject[],
  onProgress: (received: FetchedObjects['received']) => void,
): Promise<Pick<FetchedObjects, 'received' | 'missing'>> {
  const { dataFolder, workspace, offers, freeDisk, idleMs, backoffMs } = parts;
  const ending = new AbortController();
  const signal = AbortSignal.any([parts.signal, ending.signal]);
  const objects = createObjectStore(dataFolder, workspace);
  const downloader = startDownloader({ dataFolder, workspace, idleMs, ca: offers.ca, signal }, offers.guard);
  const tally = createTally(onProgress);
  const queue = createDownloadQueue({ ...parts, signal }, wanted, tally.lastProgress, apply);
  let failedInARow = 0;

  /** Applies the result of an attempt to download an object, or an offer without a download. */
  async function apply(item: QueuedObject, result: DownloadResult | RefusedOffer): Promise<void> {
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
        queue.pause(step.retryAfter);
        return queue.add(item);
      case 'retry':
        if (step.delayMs > 0) await sleep(step.delayMs, undefined, { signal });
        return queue.add({ object, failures: step.failures });
    }
  }

  function checkDisk(): void {
    if (!freeDisk.isLow()) return;
    const reason = `The disk of the service is nearly full: less than ${freeDisk.reserve} are free. Free disk space, or let syncs fetch less.`;
    ending.abort(new LfsError(reason));
  }

  async function attempt({ offer, ...item }: OfferedObject): Promise<void> {
    const { object } = item;
    // A sync of another branch may have stored it.
    if ((await onDisk(objects.findIntact(object))) !== undefined) return apply(item, { kind: 'stored' });
    // The offer may have expired in the queue.
    if (offer.endsAt <= performance.now()) return queue.add(item);
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
      for (let one = await queue.next(); one !== undefined; one = await queue.next()) await attempt(one);
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
