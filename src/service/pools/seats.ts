import { withoutSecrets } from '../../interface/resources.ts';
import type { Locks } from '../locks/locks.ts';
import { isOwnLock } from '../locks/release.ts';
import type { Bearer } from '../tokens/tokens.ts';
import type { StoredPool } from './pools.ts';

export type Seat = Awaited<ReturnType<typeof seatsOf>>[number];

/** The items of a pool, with the locks on them: with secret properties only if the lock is the caller's own. */
export const seatsOf = (locks: Pick<Locks, 'find'>, { workspace, items }: StoredPool, bearer: Bearer) =>
  Promise.all(
    items.map(async (item) => {
      const found = await locks.find({ workspace, path: item.path });
      const lock = found?.isActive ? found : undefined;
      const isOwn = lock !== undefined && isOwnLock(lock, bearer);
      return { item: isOwn ? item : withoutSecrets(item), lock };
    }),
  );
