import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { type Lock, type LockType, lockTypes } from '../../interface/resources.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';

/** The active lock on each path, in input order. */
export const findLocks = async (
  db: Database,
  now: Now,
  keys: readonly LockKey[],
): Promise<readonly (StoredLock | undefined)[]> =>
  (await findRows(db, now, keys)).map((row) => (isActive(row) ? row : undefined));

/** Coalesces concurrent lookups outside of transactions. */
export const findCommittedLock = coalesceReads(findLocks);

export interface StoredLock extends LockRow {
  readonly remainingMs: number;
}

export interface LockKey {
  readonly workspace: string;
  readonly path: string;
}

const selectLocks = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) =>
      join.on('locks.workspace_id', '=', textOf('workspace')).on('locks.path', '=', textOf('path')),
    )
    .selectAll('locks')
    .select([inputIndex.as('index'), sql<number>`expires_at - ${now}`.as('remainingMs')]),
);

export const isActive = (row: StoredLock | undefined): row is StoredLock => row !== undefined && row.remainingMs > 0;

/** With locks that have expired, and whose rows have not been removed yet. */
export const findRows = async (
  db: Database,
  now: Now,
  keys: readonly LockKey[],
): Promise<readonly (StoredLock | undefined)[]> => inInputOrder(keys, await selectLocks(db, now, keys));

export type LockRow = Selectable<Tables['locks']>;

export const toLock = (row: LockRow): Lock => ({
  id: row.id,
  path: row.path,
  type: typeOf(row.type),
  owner: row.owner,
  origin: row.origin,
  note: row.note,
  acquired_at: asTimestamp(row.acquired_at),
  expires_at: asTimestamp(row.expires_at),
  fence: row.fence,
  lease: row.lease_id,
});

// A newer version of the service may have stored a type that this one does not support.
const typeOf = (text: string): LockType => lockTypes.find((type) => type === text) ?? 'exclusive';
