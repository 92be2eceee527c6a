import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { Lock } from '../../interface/resources.ts';
import type { Ttl } from '../../interface/ttl.ts';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLock, type LockRow, toLock } from './find.ts';
import type { ActiveLock } from './list.ts';
import { type IdMatch, isOwnLock } from './release.ts';

export interface RenewRequest {
  readonly workspace: string;
  readonly path: string;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly match: IdMatch;
}

export type RenewDecision =
  | { readonly kind: 'renewed' | 'another-lock' | 'another-owner'; readonly lock: Lock }
  | { readonly kind: 'absent' };

export async function renewLock(
  db: Database,
  now: Now,
  { workspace, path, ttl, bearer, match }: RenewRequest,
): Promise<RenewDecision> {
  const found = await findLock(db, now, { workspace, path });
  if (!found?.isActive) return { kind: 'absent' };
  if (!match(found.id)) return { kind: 'another-lock', lock: toLock(found) };
  if (!isOwnLock(found, bearer)) return { kind: 'another-owner', lock: toLock(found) };
  const [renewed] = await extendLocks(db, now, [found], ttl);
  return renewed === undefined ? { kind: 'absent' } : { kind: 'renewed', lock: toLock({ ...found, ...renewed }) };
}

const updateLocks = batchQuery((db, members, now) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ expires_at: sql<number>`${now} + ${numberOf('ttl')}` })
    .whereRef('locks.workspace_id', '=', textOf('workspace_id'))
    .whereRef('locks.path', '=', textOf('path'))
    .whereRef('locks.id', '=', textOf('id'))
    .where(sql<boolean>`locks.expires_at > ${now}`)
    .returning('locks.expires_at'),
);

/** Renews the locks that still exist for the full ttl. */
export function extendLocks(db: Database, now: Now, locks: readonly LockRow[], ttl: Ttl) {
  const rows = locks.map(({ workspace_id, path, id }) => ({ workspace_id, path, id, ttl: milliseconds(ttl) }));
  return updateLocks(db, now, rows);
}

/** Every push of the owner renews a lock. Locks with more than this part of their ttl left need no write. */
const renewedBelow = 0.9;

/** For locks of Git LFS users. Jobs renew their own locks, with a ttl of their choice. */
export const isLfsRenewalDue = ({ from_lfs, remainingMs }: ActiveLock, ttl: Ttl): boolean =>
  from_lfs === 1 && remainingMs < renewedBelow * milliseconds(ttl);
