import { sql } from 'kysely';
import { milliseconds, type Ttl } from '../../interface/duration.ts';
import type { Lock } from '../../interface/resources.ts';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks, recordedColumns, type StoredLock, toLock } from './find.ts';
import { type IdMatch, isOwnLock } from './release.ts';

export interface RenewRequest {
  readonly workspace: string;
  readonly path: string;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly match: IdMatch;
  /** Never shortens the lock. */
  readonly isExtension?: boolean;
}

export type RenewDecision =
  | { readonly kind: 'renewed' | 'lasts-longer' | 'another-lock' | 'another-owner'; readonly lock: Lock }
  | { readonly kind: 'absent' };

/** Decides requests in their order, with the same two queries for any number of them. */
export async function renewLocks(
  db: Database,
  now: Now,
  requests: readonly RenewRequest[],
): Promise<readonly RenewDecision[]> {
  const keys = requests.map(({ workspace, path }) => ({ workspace, path }));
  const locks = await findLocks(db, now, keys);
  /** The last request for each lock counts. */
  const due = new Map<string, StoredLock & { readonly ttlMs: number }>();
  const decisions = requests.map(({ ttl, bearer, match, isExtension }, index): RenewDecision | undefined => {
    const found = locks[index];
    if (!found?.isActive) return { kind: 'absent' };
    const lock = toLock(found);
    if (!match(found.id)) return { kind: 'another-lock', lock };
    if (!isOwnLock(found, bearer)) return { kind: 'another-owner', lock };
    const ttlMs = milliseconds(ttl);
    const remainingMs = due.get(found.id)?.ttlMs ?? found.remainingMs;
    if (isExtension && remainingMs >= ttlMs) return { kind: 'lasts-longer', lock };
    due.set(found.id, { ...found, ttlMs });
    return undefined;
  });
  const renewed = due.size === 0 ? [] : await updateLocks(db, now, [...due.values()]);
  const byId = new Map(renewed.map((row) => [row.id, toLock(row)]));
  return decisions.map((decision, index) => {
    const lock = byId.get(locks[index]?.id ?? '');
    if (decision?.kind === 'lasts-longer') return { ...decision, lock: lock ?? decision.lock };
    return decision ?? (lock === undefined ? { kind: 'absent' } : { kind: 'renewed', lock });
  });
}

const updateLocks = batchQuery((db, members, now) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ expires_at: sql<number>`${now} + ${numberOf('ttlMs')}` })
    .whereRef('locks.workspace_id', '=', textOf('workspace_id'))
    .whereRef('locks.path', '=', textOf('path'))
    .whereRef('locks.id', '=', textOf('id'))
    .where(sql<boolean>`locks.expires_at > ${now}`)
    .returning(recordedColumns.map((column) => `locks.${column}` as const)),
);

/** Every push of the owner renews a lock. Locks with more than this part of their ttl left need no write. */
const renewedBelow = 0.9;

/** For locks of Git LFS users. Jobs renew their own locks, with a ttl of their choice. */
export const isLfsRenewalDue = (
  { from_lfs, remainingMs }: Pick<StoredLock, 'from_lfs' | 'remainingMs'>,
  ttl: Ttl,
): boolean => from_lfs === 1 && remainingMs < renewedBelow * milliseconds(ttl);
