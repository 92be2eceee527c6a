import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { foldCase } from '../../interface/fold-case.ts';
import { type Lock, type LockType, lockTypes } from '../../interface/resources.ts';
import { batchQuery, inInputOrder, inputIndex, type Members, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';

/** Coalesces concurrent lookups outside of transactions. */
export const findCommittedLock = coalesceReads(findLocks);

export type StoredLock = ReturnType<typeof foundLock>;

export interface LockKey {
  readonly workspace: string;
  readonly path: string;
  /** With --windows-paths, the result of foldCase(): locks on paths with the same folded path conflict. */
  readonly foldedPath?: string | undefined;
}

/** Folds the path if the service does. */
export type KeyOf = (workspace: string, path: string) => LockKey;

/** The line of a path: paths that share a lock share a line. */
export type LinePath = Omit<LockKey, 'foldedPath'>;

export const linePathOf = ({ workspace, path, foldedPath = path }: LockKey): LinePath => ({
  workspace,
  path: foldedPath,
});

const selectBy = (db: Database, members: Members, now: Now, column: 'path' | 'folded_path', field: string) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) =>
      join.on('locks.workspace_id', '=', textOf('workspace')).on(`locks.${column}`, '=', textOf(field)),
    )
    .selectAll('locks')
    .select([inputIndex.as('index'), sql<number>`expires_at - ${now}`.as('remaining')]);

const selectByPath = batchQuery((db, members, now) => selectBy(db, members, now, 'path', 'path'));

/** Locks on the path, and locks on its other spellings that keep it from others. */
const selectBySpellings = batchQuery((db, members, now) =>
  selectBy(db, members, now, 'path', 'path').unionAll(
    selectBy(db, members, now, 'folded_path', 'foldedPath').where(isActive(now)),
  ),
);

export const isActive = (now: Now) => sql<boolean>`locks.expires_at > ${now}`;

/** The lock on each path, in input order; with a folded path, otherwise one that keeps it from others and differs only in case. */
export async function findLocks(
  db: Database,
  now: Now,
  keys: readonly LockKey[],
): Promise<readonly (StoredLock | undefined)[]> {
  /** The lock with the highest rank counts, because it is the last one of its key. */
  const rankOf = ({ index, path, remaining }: SelectedLock): number =>
    (remaining > 0 ? 2 : 0) + (path === keys[index]?.path ? 1 : 0);
  const isFolded = keys.some(({ foldedPath }) => foldedPath !== undefined);
  const found = await (isFolded ? selectBySpellings : selectByPath)(db, now, keys);
  const ranked = found.toSorted((one, other) => rankOf(one) - rankOf(other));
  return inInputOrder(keys, ranked).map((row) => row && foundLock(row));
}

type SelectedLock = LockRow & { readonly index: number; readonly remaining: number };

function foundLock({ index: _, remaining, ...lock }: SelectedLock) {
  return {
    ...lock,
    /** False if the lock has expired and its row has not been removed yet. */
    isActive: remaining > 0,
    remainingMs: remaining,
  };
}

const atOnce = 10_000;

const setFoldedPaths = batchQuery((db, members) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ folded_path: textOf('foldedPath') })
    .whereRef('locks.workspace_id', '=', textOf('workspace'))
    .whereRef('locks.path', '=', textOf('path')),
);

/** Adds folded paths to locks that were acquired without --windows-paths. */
export async function foldHeldPaths({ now, commit }: Storage): Promise<void> {
  for (let folded = atOnce; folded === atOnce; ) {
    folded = await commit('global', async (db) => {
      const locks = await db
        .selectFrom('locks')
        .select(['workspace_id as workspace', 'path'])
        .where('folded_path', 'is', null)
        .limit(atOnce)
        .execute();
      const rows = locks.map((lock) => ({ ...lock, foldedPath: foldCase(lock.path) }));
      if (rows.length > 0) await setFoldedPaths(db, now, rows);
      return rows.length;
    });
  }
}

export type LockRow = Selectable<Tables['locks']>;

/** What clients see of a lock. */
export const recordedColumns = [
  ...(['workspace_id', 'path', 'id', 'type', 'owner', 'origin', 'note'] as const),
  ...(['acquired_at', 'expires_at', 'fence', 'lease_id'] as const),
];

export type RecordedLock = Pick<LockRow, (typeof recordedColumns)[number]>;

export const toLock = (row: RecordedLock): Lock => ({
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

/** Sorts after every character that a path can contain, in UTF-8 and so in both databases. */
export const lastSortKey = '\u{10FFFF}';
