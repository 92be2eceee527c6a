import type { KnownLock, ServiceError, Within } from '../../client/client.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { inParallel } from './in-parallel.ts';
import type { Keeper } from './keeper.ts';

/** What came of giving locks back. */
export interface GivenBack {
  /** Released, or found to be gone. */
  readonly done: readonly Grant[];
  /** Somebody else holds the path now. */
  readonly lost: readonly { readonly grant: Grant; readonly holder: KnownLock | undefined }[];
  /** Nothing shows that what is there now is ours. */
  readonly leftAlone: readonly Grant[];
  readonly failed: readonly { readonly grant: Grant; readonly error: ServiceError }[];
  /** Whether they were granted is not known, and so they are left to their ttl. */
  readonly unproven: readonly Intent[];
}

/** Gives back what was granted, and what turns out to have been granted once the service is asked again. */
export async function giveBackAll(
  keeper: Keeper,
  { taken, unclear }: { readonly taken: readonly Grant[]; readonly unclear: readonly Intent[] },
  within: Within,
): Promise<GivenBack> {
  const done: Grant[] = [];
  const lost: { grant: Grant; holder: KnownLock | undefined }[] = [];
  const leftAlone: Grant[] = [];
  const failed: { grant: Grant; error: ServiceError }[] = [];
  const unproven: Intent[] = [];

  async function giveBack(grant: Grant): Promise<void> {
    const release = await keeper.giveBack(grant, within);
    switch (release.kind) {
      case 'released':
      case 'absent':
        done.push(grant);
        return;
      case 'lost':
        lost.push({ grant, holder: release.holder });
        return;
      case 'left-alone':
        leftAlone.push(grant);
        return;
      case 'failed':
        failed.push({ grant, error: release.error });
        return;
    }
  }

  async function clearUp(intent: Intent): Promise<void> {
    const taking = await keeper.ask(intent, true, within);
    switch (taking.kind) {
      case 'taken':
        await giveBack(taking.grant);
        return;
      case 'held':
      case 'failed':
        return;
      case 'unclear':
        unproven.push(intent);
        return;
    }
  }

  await inParallel(taken, giveBack);
  await inParallel(unclear, clearUp);
  return { done, lost, leftAlone, failed, unproven };
}
