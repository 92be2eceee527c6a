import { setTimeout as sleep } from 'node:timers/promises';
import type { Limits } from '../../git/run-git.ts';
import type { ObjectName } from '../oid.ts';
import { createAddressGuard } from './address-guard.ts';
import { type BatchResponse, requestBatch } from './batch.ts';
import { openStoreConnection } from './connection.ts';
import { maxAttempts } from './next-step.ts';
import { findStore, type StoreOwner, type StoreParts, trustedAuthorities } from './store.ts';
import { StoreError, StoreUnusable } from './store-error.ts';

const firstBatchSize = 200;

interface OffersOptions extends Limits {
  readonly branch?: string;
  readonly idleMs: number;
  /** Delay before the first retry; doubled for each further one. */
  readonly backoffMs: number;
}

export type Offers = Awaited<ReturnType<typeof openOffers>>;

/**
 * Connects to the store of a workspace, and requests its offers for objects, in batches of a size that it accepts. URLs
 * at the store itself are allowed whatever their addresses.
 */
export async function openOffers(
  { git, targets, environment }: StoreParts,
  owner: StoreOwner,
  { branch, idleMs, backoffMs, ...limits }: OffersOptions,
) {
  const ca = await trustedAuthorities(environment);
  let store = await findStore(git, owner, limits);
  const guard = createAddressGuard(targets, owner.workspace, (url) => store.isConfigured(url));
  const connection = openStoreConnection(guard, ca);
  let batchSize = firstBatchSize;
  let wasRefused = false;
  let failures = 0;

  const unreachable = (reason: string): StoreUnusable =>
    new StoreUnusable(
      `The LFS store at ${store.endpoint.origin}${store.endpoint.pathname} cannot be reached: ${reason}.`,
    );

  async function requestBatchInTime(objects: readonly ObjectName[], signal: AbortSignal): Promise<BatchResponse> {
    const inTime = AbortSignal.timeout(idleMs);
    const options = { branch, objects, signal: AbortSignal.any([signal, inTime]) };
    const response = await requestBatch(connection, store, options).catch((error: unknown) => {
      signal.throwIfAborted();
      throw inTime.aborted ? new StoreError('it does not respond in time') : error;
    });
    switch (response.kind) {
      case 'offers':
        [wasRefused, failures] = [false, 0];
        break;
      case 'too-many':
        if (objects.length === 1) throw unreachable('it rejects a batch of one object (413)');
        batchSize = Math.ceil(objects.length / 2);
        break;
      case 'unauthorized':
        if (wasRefused) throw new StoreUnusable(response.reason);
        wasRefused = true;
        // Some stores grant access for a limited time.
        store = await findStore(git, owner, limits);
    }
    return response;
  }

  return {
    guard,
    ca,
    unreachable,
    batchSize: (): number => batchSize,
    /** The caller must request the objects again, unless the response has offers. */
    async request(objects: readonly ObjectName[], signal: AbortSignal): Promise<BatchResponse | undefined> {
      try {
        return await requestBatchInTime(objects, signal);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        failures += 1;
        if (failures === maxAttempts) throw unreachable(error.message);
        await sleep(backoffMs * 2 ** (failures - 1), undefined, { signal });
        return undefined;
      }
    },
    close: connection.close,
  };
}
