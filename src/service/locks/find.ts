import { sql } from 'kysely';
import { aboutMany, atTheirPlaces, placeInList, textOf } from '../storage/about-many.ts';
import { askTogether } from '../storage/ask-together.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { LockRow } from './lock-row.ts';

export interface FoundLock extends LockRow {
  /** False: it has expired, and only its row is still there. */
  readonly live: boolean;
  readonly remainingMs: number;
  /** Rounded up, so that who waits that long does not come too early. */
  readonly remainingSeconds: number;
}

export interface LockPlace {
  readonly workspace: string;
  readonly path: string;
}

const selectLocks = aboutMany((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) =>
      join.on('locks.workspace_id', '=', textOf('workspace')).on('locks.path', '=', textOf('path')),
    )
    .selectAll('locks')
    .select([placeInList.as('place'), sql<number>`expires_at - ${now}`.as('remaining')]),
);

/** The lock of each place, at the same place of the list. */
export async function findLocks(
  db: Database,
  now: Now,
  places: readonly LockPlace[],
): Promise<readonly (FoundLock | undefined)[]> {
  const rows = await selectLocks(
    db,
    now,
    places.map(({ workspace, path }) => ({ workspace, path })),
  );
  return atTheirPlaces(places, rows).map((row) => {
    if (row === undefined) return undefined;
    const { place, remaining, ...lock } = row;
    return { ...lock, live: remaining > 0, remainingMs: remaining, remainingSeconds: Math.ceil(remaining / 1_000) };
  });
}

/** As many requests ask for it at the same time; in a transaction it is findLock(). */
export const findCommittedLock = askTogether(findLocks);

export async function findLock(db: Database, now: Now, place: LockPlace): Promise<FoundLock | undefined> {
  const [found] = await findLocks(db, now, [place]);
  return found;
}
