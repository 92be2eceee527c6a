import { setTimeout as sleep } from 'node:timers/promises';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { ObjectName } from '../oid.ts';
import { type Offer, requestBatch } from './batch.ts';
import type { StoreConnection } from './connection.ts';
import { maxAttempts } from './next-step.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

const firstBatchSize = 200;

export interface OffersTerms {
  /** Connection for batch requests. */
  readonly connection: StoreConnection;
  readonly branch?: string | undefined;
  /** Called again after an authorization error, because some stores grant access for a limited time. */
  readonly findStore: () => Promise<Store>;
  readonly idleMs: number;
  /** Delay before the first retry; doubled for each further one. */
  readonly backoffMs: number;
}

/** No request to the store can succeed now. */
export class StoreUnusable extends LfsError {}

/** Requests the offers of a store for objects, in batches of a size that it accepts. */
export async function openOffers(
  { connection, branch, findStore, idleMs, backoffMs }: OffersTerms,
  { signal, onBusy }: { readonly signal: AbortSignal; readonly onBusy: (retryAfter: string | undefined) => void },
) {
  let store = await findStore();
  let batchSize = firstBatchSize;
  let wasRefused = false;
  let failures = 0;

  const unreachable = (reason: string): LfsError =>
    new StoreUnusable(
      `The LFS store at ${store.endpoint.origin}${store.endpoint.pathname} cannot be reached: ${reason}.`,
    );

  async function request(objects: readonly ObjectName[]): Promise<ReadonlyMap<string, Offer> | undefined> {
    const inTime = AbortSignal.timeout(idleMs);
    const response = await requestBatch(connection, store, {
      ...{ branch, objects, now: performance.now() },
      signal: AbortSignal.any([signal, inTime]),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw inTime.aborted ? new StoreError('it does not respond in time') : error;
    });
    switch (response.kind) {
      case 'offers':
        wasRefused = false;
        return response.offers;
      case 'too-many':
        if (objects.length === 1) throw unreachable('it rejects a batch of one object (413)');
        batchSize = Math.ceil(objects.length / 2);
        return undefined;
      case 'busy':
        onBusy(response.retryAfter);
        return undefined;
      case 'unauthorized':
        if (wasRefused) throw new StoreUnusable(response.reason);
        wasRefused = true;
        store = await findStore();
        return undefined;
    }
  }

  return {
    unreachable,
    batchSize: (): number => batchSize,
    /** Undefined if the caller must request them again. */
    async request(objects: readonly ObjectName[]): Promise<ReadonlyMap<string, Offer> | undefined> {
      try {
        const offers = await request(objects);
        if (offers !== undefined) failures = 0;
        return offers;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        failures += 1;
        if (failures === maxAttempts) throw unreachable(error.message);
        await sleep(backoffMs * 2 ** (failures - 1), undefined, { signal });
        return undefined;
      }
    },
  };
}
