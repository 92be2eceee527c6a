import { sql } from 'kysely';
import { batchQuery, inInputOrder, inputIndex, type Members, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { LockRow } from './lock-row.ts';

/** As many requests ask for it at the same time; in a transaction it is findLock(). */
export const findCommittedLock = coalesceReads(findLocks);

const selectById = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) => join.on('locks.id', '=', textOf('id')).on('workspace_id', '=', textOf('workspace')))
    .selectAll('locks')
    .select([inputIndex.as('place'), sql<number>`expires_at - ${now}`.as('remaining')]),
);

export interface LockIdentity {
  readonly workspace: string;
  readonly id: string;
}

/** As findCommittedLock(), by the id of the lock. */
export const findCommittedLockById = coalesceReads(async (db, now, identities: readonly LockIdentity[]) => {
  const rows = await selectById(db, now, identities);
  return inInputOrder(identities, rows).map((row) => row && foundLock(row));
});

export interface StoredLock extends LockRow {
  /** False: it has expired, and only its row is still there. */
  readonly live: boolean;
  readonly remainingMs: number;
  /** Rounded up, so that who waits that long does not come too early. */
  readonly remainingSeconds: number;
}

export interface LockPlace {
  readonly workspace: string;
  readonly path: string;
  /** With --windows-paths, that of foldCase(): a lock on another path with the same one is in the way, too. */
  readonly foldedPath?: string | undefined;
}

export async function findLock(db: Database, now: Now, place: LockPlace): Promise<StoredLock | undefined> {
  const [found] = await findLocks(db, now, [place]);
  return found;
}

const selectBy = (db: Database, members: Members, now: Now, column: 'path' | 'folded_path', field: keyof LockPlace) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) =>
      join.on('locks.workspace_id', '=', textOf('workspace')).on(`locks.${column}`, '=', textOf(field)),
    )
    .selectAll('locks')
    .select([inputIndex.as('place'), sql<number>`expires_at - ${now}`.as('remaining')]);

const selectLocks = batchQuery((db, members, now) => selectBy(db, members, now, 'path', 'path'));

/**
 * The lock of each place, at the same place of the list: that on its path, or else a live one on a path that differs only by
 * the case of letters, where the place has a folded path.
 */
export async function findLocks(
  db: Database,
  now: Now,
  places: readonly LockPlace[],
): Promise<readonly (StoredLock | undefined)[]> {
  const rows = await selectLocks(
    db,
    now,
    places.map(({ workspace, path }) => ({ workspace, path })),
  );
  const found = inInputOrder(places, rows).map((row) => row && foundLock(row));
  const others = await findOtherSpellings(
    db,
    now,
    places.map((place, index) => (found[index]?.live ? undefined : place)),
  );
  return found.map((lock, index) => others[index] ?? lock);
}

/** Only live ones: an expired lock blocks no other path. */
const selectOtherSpellings = batchQuery((db, members, now) =>
  selectBy(db, members, now, 'folded_path', 'foldedPath').where(sql<boolean>`expires_at > ${now}`),
);

async function findOtherSpellings(
  db: Database,
  now: Now,
  places: readonly (LockPlace | undefined)[],
): Promise<readonly (StoredLock | undefined)[]> {
  if (places.every((place) => place?.foldedPath === undefined)) return [];
  const rows = await selectOtherSpellings(
    db,
    now,
    places.map((place) => (place === undefined ? {} : { workspace: place.workspace, foldedPath: place.foldedPath })),
  );
  return inInputOrder(places, rows).map((row) => row && foundLock(row));
}

type SelectedLock = LockRow & { readonly place: number; readonly remaining: number };

function foundLock({ place: _, remaining, ...lock }: SelectedLock): StoredLock {
  return { ...lock, live: remaining > 0, remainingMs: remaining, remainingSeconds: Math.ceil(remaining / 1_000) };
}
