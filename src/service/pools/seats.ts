import type { PoolItem } from '../../interface/resources.ts';
import { withoutSecrets } from '../../interface/secret-properties.ts';
import type { StoredLock } from '../locks/find.ts';
import type { Locks } from '../locks/locks.ts';
import { isOwnLock } from '../locks/release.ts';
import type { Bearer } from '../tokens/tokens.ts';
import type { StoredPool } from './pools.ts';

export interface Seat {
  /** As the caller may see it: with the values of secret properties only if the lock is the caller's own. */
  readonly item: PoolItem;
  /** The current lock. */
  readonly lock: StoredLock | undefined;
}

/** The items of a pool, with the locks on them. */
export const seatsOf = (
  locks: Pick<Locks, 'find'>,
  { workspace, items }: StoredPool,
  { owner, id: tokenId }: Bearer,
): Promise<readonly Seat[]> =>
  Promise.all(
    items.map(async (item) => {
      const found = await locks.find({ workspace, path: item.path });
      const lock = found?.live ? found : undefined;
      const isOwn = lock !== undefined && isOwnLock(lock, { owner, tokenId });
      return { item: isOwn ? item : withoutSecrets(item), lock };
    }),
  );
