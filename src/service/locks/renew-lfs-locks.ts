import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { Ttl } from '../../interface/ttl.ts';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { LiveLock } from './list.ts';

const extendLocks = batchQuery((db, members, now) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ expires_at: sql<number>`${now} + ${numberOf('ttl')}` })
    .whereRef('locks.workspace_id', '=', textOf('workspace'))
    .whereRef('locks.path', '=', textOf('path'))
    .whereRef('locks.id', '=', textOf('id'))
    .where(sql<boolean>`locks.expires_at > ${now}`),
);

/** Gives locks that are still there their full time again. */
export async function renewLfsLocks(db: Database, now: Now, locks: readonly LiveLock[], ttl: Ttl): Promise<void> {
  const rows = locks.map(({ workspace_id: workspace, path, id }) => ({ workspace, path, id, ttl: milliseconds(ttl) }));
  await extendLocks(db, now, rows);
}

/** Every push of its owner renews a lock: most of them come when there is no need to write anything yet. */
const renewedBelow = 0.9;

/** For locks of Git LFS users. Jobs renew their own locks, and name the ttl. */
export const isLfsRenewalDue = ({ id, desk_id, remainingMs }: LiveLock, ttl: Ttl): boolean =>
  desk_id === id && remainingMs < renewedBelow * milliseconds(ttl);
