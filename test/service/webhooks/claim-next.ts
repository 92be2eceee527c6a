import type { Storage } from '../../../src/service/storage/storage.ts';
import { type ClaimedDelivery, claimDelivery, dueHooks } from '../../../src/service/webhooks/delivery-queue.ts';

/** What has waited longest, but for hooks that are busy: for tests of what does not hang on whose turn it is. */
export async function claimNext(
  storage: Storage,
  busyHooks: readonly string[] = [],
): Promise<ClaimedDelivery | undefined> {
  const due = await dueHooks(storage);
  for (const { id } of due.filter(({ id }) => !busyHooks.includes(id)).toSorted((a, b) => a.since - b.since)) {
    const claimed = await claimDelivery(storage, id);
    if (claimed !== undefined) return claimed;
  }
  return undefined;
}
