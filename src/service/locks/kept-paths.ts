import { type RawBuilder, sql } from 'kysely';
import { batchQuery, inputIndex, numberOf, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { now } from '../storage/timestamp.ts';
import { findCommittedLock, type LockKey } from './find.ts';
import { type LinePath, lastRank, nextInLine, type Waiting } from './next-in-line.ts';
import { requestGapMs } from './wait-terms.ts';
import { isPresent } from './waits.ts';

/** A waiting lease may be overtaken on a free path for this long: one level of urgency is worth as much. */
const passedForMs = 5 * 60_000;

/** A present lease as stored in the database, and the longest time that others wait for it. */
export interface Next extends Waiting {
  readonly kind: Tables['waits']['kind'];
  readonly owner: string;
  readonly origin: string | null;
  readonly presentMs: number;
}

/** For each of these free paths, the lease that it is kept for. */
export const keptFor = (db: Database, paths: readonly LinePath[]): Promise<readonly (Next | undefined)[]> =>
  nextInLine<Next>(
    {
      async first(paths, count) {
        const rows = await selectFirst[count](db, paths);
        return rows.map(({ index, keeps, ...lease }) => ({ index, lease: { ...lease, keeps: keeps === 1 } }));
      },
      withEnough: (sets) => selectWithEnough(db, sets),
      free: (sets) => selectFree(db, sets),
    },
    paths,
  );

const committedKeptFor = coalesceReads((db, keys: readonly LockKey[]) => keptFor(db, keys));

/** Whether a path is free, the lease that it is then kept for, and when to look again if nothing changes. */
export async function readPath(read: Database, key: LockKey) {
  // Decided by the clock of the database, because the clock of this process may differ.
  const lock = await findCommittedLock(read, key);
  if (lock !== undefined) return { isFree: false, next: undefined, lookAgainMs: lock.remainingMs };
  const next = await committedKeptFor(read, key);
  // Locked since then, it would seem to be kept for a lease further back in line, or for nobody.
  const later = await findCommittedLock(read, key);
  return { isFree: later === undefined, next, lookAgainMs: later?.remainingMs ?? lookAgainMs(next) };
}

/** Whether anyone with a lower rank is present in the workspace of the member. */
const isAnyoneBefore = (rank: RawBuilder<number>) =>
  sql<boolean>`exists (select 1 from waits where workspace_id = ${textOf('workspace')} and ${isPresent} and rank < ${rank})`;

const ownRank = sql<number>`coalesce((select rank from waits where id = ${textOf('waitId')} and ${isPresent}),
  ${sql.lit(lastRank)})`;

/**
 * The requests with anyone ahead of them in their workspace, even for other paths. Each has its rank, or the last rank
 * if it is not in line. Usually nobody waits, and then thousands of paths need not be written as JSON.
 */
export const selectAfterOthers = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .where(isAnyoneBefore(ownRank))
    .select([inputIndex.as('index'), ownRank.as('before')]),
);

/**
 * The first `count` present leases of each line. The rank of the last of them is found first, because a line may have a
 * thousand leases.
 */
const firstInLine = (count: number) =>
  batchQuery((db, members) =>
    db
      .with(
        (cte) => cte('lines').materialized(),
        (from) =>
          from
            .selectFrom(members)
            // Usually nobody waits for most of the paths.
            .where(sql<boolean>`exists (select 1 from wait_paths where wait_paths.workspace_id = ${textOf('workspace')}
              and wait_paths.path = ${textOf('path')})`)
            .select(({ fn, selectFrom }) => [
              inputIndex.as('index'),
              textOf('workspace').as('workspace'),
              textOf('path').as('path'),
              numberOf('after').as('after'),
              numberOf('before').as('before'),
              fn
                .coalesce(
                  selectFrom('wait_paths as line')
                    .innerJoin('waits', 'waits.id', 'line.wait_id')
                    .select('line.rank')
                    .where('line.workspace_id', '=', textOf('workspace'))
                    .where('line.path', '=', textOf('path'))
                    .where('line.rank', '>', numberOf('after'))
                    .where(isPresent)
                    .orderBy('line.rank')
                    .limit(sql.lit(1))
                    .offset(sql.lit(count - 1)),
                  sql.lit(lastRank),
                )
                .as('upTo'),
            ]),
      )
      .selectFrom('lines')
      .innerJoin('wait_paths as line', (join) =>
        join
          .onRef('line.workspace_id', '=', 'lines.workspace')
          .onRef('line.path', '=', 'lines.path')
          .onRef('line.rank', '>', 'lines.after')
          .onRef('line.rank', '<=', 'lines.upTo')
          .onRef('line.rank', '<', 'lines.before'),
      )
      .innerJoin('waits', 'waits.id', 'line.wait_id')
      .where(isPresent)
      .select(['waits.id', 'waits.kind', 'waits.owner', 'waits.origin', 'waits.rank', 'waits.wanted', 'waits.size'])
      .select([
        'waits.workspace_id as workspace',
        'lines.index',
        sql<number>`case when waits.since <= ${now} - ${sql.lit(passedForMs)} then 1 else 0 end`.as('keeps'),
        sql<number>`waits.present_until - ${now}`.as('presentMs'),
      ]),
  );

const selectFirst = { 1: firstInLine(1), 10: firstInLine(10), 50: firstInLine(50) };

/** Leases with as many free paths as they want, and whether nobody in the workspace is ahead of them. */
const selectWithEnough = batchQuery((db, members) => {
  const linesOf = sql`from wait_paths as line where line.wait_id = ${textOf('id')}`;
  return db
    .selectFrom(members)
    .where(
      sql<boolean>`case when ${numberOf('wanted')} = ${numberOf('size')}
        then not exists (select 1 ${linesOf} and not ${isFree('line')})
        else (select count(*) ${linesOf} and ${isFree('line')}) >= ${numberOf('wanted')} end`,
    )
    .select([
      textOf('id').as('id'),
      sql<number>`case when ${isAnyoneBefore(numberOf('rank'))} then 0 else 1 end`.as('isFirst'),
    ]);
});

/** The free paths of these leases. */
const selectFree = batchQuery((db, members) =>
  db
    .selectFrom('wait_paths as line')
    .where(sql<boolean>`line.wait_id in (select ${textOf('id')} from ${members})`)
    .where(isFree('line'))
    .select(['line.wait_id as id', 'line.workspace_id as workspace', 'line.path'])
    .orderBy('line.position'),
);

/** Whether nobody holds the path of a line. */
export const isFree = (line: string) =>
  sql<boolean>`not exists (select 1 from locks where locks.workspace_id = ${sql.ref(`${line}.workspace_id`)}
    and locks.path = ${sql.ref(`${line}.path`)} and locks.expires_at > ${now})`;

/**
 * How long others wait for the next lease before they look again: its client may be at another instance, or about to
 * send its next request. If no lease is present, one may soon be again: an older request may have ended its presence.
 * A person is notified soon, unless a lease that others passed can now be granted. From then on, nobody is ahead.
 */
export function lookAgainMs(next: Pick<Next, 'kind' | 'presentMs'> | undefined): number {
  if (next === undefined) return requestGapMs;
  return next.kind === 'kept' ? next.presentMs : Math.min(Math.max(next.presentMs, 1), requestGapMs);
}
