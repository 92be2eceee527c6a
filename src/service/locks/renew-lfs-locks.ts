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

/** Renews the locks that still exist for the full ttl. */
export async function renewLfsLocks(db: Database, now: Now, locks: readonly LiveLock[], ttl: Ttl): Promise<void> {
  const rows = locks.map(({ workspace_id: workspace, path, id }) => ({ workspace, path, id, ttl: milliseconds(ttl) }));
  await extendLocks(db, now, rows);
}

/** Every push of the owner renews the lock. Locks with more than this part of their ttl left need no write. */
const renewedBelow = 0.9;

/** For locks of Git LFS users. Jobs renew their own locks, with a ttl of their choice. */
export const isLfsRenewalDue = ({ id, desk_id, remainingMs }: LiveLock, ttl: Ttl): boolean =>
  desk_id === id && remainingMs < renewedBelow * milliseconds(ttl);
