import { sql } from 'kysely';
import { batchQuery, inputIndex, numberOf, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import { type LockKey, nameOf } from './find.ts';
import { requestGapMs } from './wait-terms.ts';
import { isPresent, type WaitRequest } from './waits.ts';

/** A lease may be passed on a free path for this part of its wait. One level of urgency is worth as much. */
const passedForMs = 5 * 60_000;

/** Present leases as they are in the database, and how long the others wait for them at most. */
export interface Next extends Waiting {
  readonly kind: WaitRequest['kind'];
  readonly owner: string;
  readonly origin: string | null;
  readonly presentMs: number;
}

/**
 * For each of these free paths, the lease that it is kept for. It looks only at leases that may matter: those that want
 * one of the paths, and those before them that want another path which these could get.
 */
export async function keptFor(
  db: Database,
  keys: readonly LockKey[],
  anyoneWaits?: boolean,
): Promise<readonly (Next | undefined)[]> {
  const isWaitedFor = keys.length > 0 && (anyoneWaits ?? (await isAnyoneWaiting(db)));
  if (!isWaitedFor) return keys.map(() => undefined);
  const known = new Map<string, Next>();
  const seen = new Set<string>();
  for (let paths = keys; paths.length > 0; ) {
    for (const path of paths) seen.add(nameOf(path));
    const waits = (await selectFirst(db, paths)).filter(({ id }) => !known.has(id));
    const sets = [...new Map(waits.flatMap((wait) => (wait.size > 1 ? [[wait.id, wait]] : []))).values()];
    const free = Map.groupBy(sets.length === 0 ? [] : await selectFree(db, sets), ({ id }) => id);
    // A set has a row for each of its paths.
    for (const wait of new Map(waits.map((each) => [each.id, each])).values()) {
      const own = wait.size > 1 ? free.get(wait.id) : paths.slice(wait.index, wait.index + 1);
      known.set(wait.id, { ...wait, keeps: wait.keeps === 1, free: own?.map(nameOf) ?? [] });
    }
    // If a set can be granted, those before it on its other paths also matter.
    const further = sets.flatMap(({ id, wanted }) => {
      const open = free.get(id) ?? [];
      return open.length >= wanted ? open : [];
    });
    paths = distinct(further.filter((path) => !seen.has(nameOf(path))));
  }
  const spokenFor = nextInLine([...known.values()]);
  return keys.map((key) => spokenFor.get(nameOf(key)));
}

export const committedKeptFor = coalesceReads((db, keys: readonly LockKey[]) => keptFor(db, keys));

const distinct = (paths: readonly LockKey[]): readonly LockKey[] => [
  ...new Map(paths.map(({ workspace, path }) => [nameOf({ workspace, path }), { workspace, path }])).values(),
];

/** Most often, nobody waits for any of thousands of paths: then they need not be written as JSON. */
export const isAnyoneWaiting = async (db: Database): Promise<boolean> => (await selectAnyWait(db, [])).length > 0;

const selectAnyWait = batchQuery((db) => db.selectFrom('waits').select('id').limit(sql.lit(1)));

/**
 * The present leases of each line, up to the first one of a single path. It is granted where nobody before it is: later
 * ones never matter. The rank of that one is read once per line: read for each of its leases, a thousand leases whose
 * clients are away would take seconds.
 */
const selectFirst = batchQuery((db, members) =>
  db
    .with(
      (cte) => cte('lines').materialized(),
      (from) =>
        from
          .selectFrom(members)
          // Most often, nobody waits for most of many paths.
          .where(sql<boolean>`exists (select 1 from wait_paths where wait_paths.workspace_id = ${textOf('workspace')}
            and wait_paths.path = ${textOf('path')})`)
          .select(({ fn, selectFrom }) => [
            inputIndex.as('index'),
            textOf('workspace').as('workspace'),
            textOf('path').as('path'),
            fn
              .coalesce(
                selectFrom('wait_paths as single')
                  .innerJoin('waits', 'waits.id', 'single.wait_id')
                  .select('single.rank')
                  .where('single.workspace_id', '=', textOf('workspace'))
                  .where('single.path', '=', textOf('path'))
                  .where('single.is_set', '=', sql.lit(0))
                  .where(isPresent)
                  .orderBy('single.rank')
                  .limit(sql.lit(1)),
                sql.lit(Number.MAX_SAFE_INTEGER),
              )
              .as('lastRank'),
          ]),
    )
    .selectFrom('lines')
    .innerJoin('wait_paths as line', (join) =>
      join
        .onRef('line.workspace_id', '=', 'lines.workspace')
        .onRef('line.path', '=', 'lines.path')
        .on('line.is_set', 'in', [sql.lit(0), sql.lit(1)])
        .onRef('line.rank', '<=', 'lines.lastRank'),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(isPresent)
    .select(['waits.id', 'waits.kind', 'waits.owner', 'waits.origin', 'waits.rank', 'waits.wanted', 'waits.size'])
    .select([
      'lines.index',
      sql<number>`case when waits.since <= ${now} - ${sql.lit(passedForMs)} then 1 else 0 end`.as('keeps'),
      sql<number>`waits.present_until - ${now}`.as('presentMs'),
    ]),
);

/** The free paths of sets; none of a set that needs all of its paths, lacks one, and keeps none. */
const selectFree = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('wait_paths as line', (join) => join.on('line.wait_id', '=', textOf('id')))
    .where(({ or, not, exists, eb, selectFrom }) =>
      or([
        eb(numberOf('keeps'), '=', sql.lit(1)),
        eb(numberOf('wanted'), '<', numberOf('size')),
        not(
          exists(
            selectFrom('wait_paths as other')
              .select('other.wait_id')
              .where('other.wait_id', '=', textOf('id'))
              .where(not(isFree('other'))),
          ),
        ),
      ]),
    )
    .where(isFree('line'))
    .select(['line.wait_id as id', 'line.workspace_id as workspace', 'line.path'])
    .orderBy('line.position'),
);

/** Whether no lock is on a path of a line. */
export const isFree = (line: string) =>
  sql<boolean>`not exists (select 1 from locks where locks.workspace_id = ${sql.ref(`${line}.workspace_id`)}
    and locks.path = ${sql.ref(`${line}.path`)} and locks.expires_at > ${now})`;

/**
 * How long the others wait for the next lease until they look again: its client may be at another instance, or about to
 * send its next request. If none is present, one that waits may be soon: another of its requests has ended its presence.
 */
export function lookAgainMs(next: Pick<Next, 'kind' | 'presentMs'> | undefined): number {
  if (next === undefined) return requestGapMs;
  return next.kind === 'request' ? Math.min(Math.max(next.presentMs, 1), requestGapMs) : next.presentMs;
}

/** A lease that waits, and whose client is present. */
export interface Waiting {
  readonly id: string;
  /** The order of the line, ascending: the time of arrival, earlier or later by its priority. */
  readonly rank: number;
  /** How many of its paths it needs. */
  readonly wanted: number;
  /** Its paths that nobody holds. */
  readonly free: readonly string[];
  /** Whether it has waited so long that its free paths are kept for it until it has enough of them. */
  readonly keeps: boolean;
}

/**
 * The next in line: for each free path that is spoken for, the lease. In the order of their ranks, a lease that has enough
 * free paths gets them as a whole. Any other one is passed on its free paths, until it has waited too long for that.
 */
export function nextInLine<Lease extends Waiting>(waiting: readonly Lease[]): ReadonlyMap<string, Lease> {
  const spokenFor = new Map<string, Lease>();
  for (const lease of waiting.toSorted(byRank)) {
    const open = lease.free.filter((path) => !spokenFor.has(path));
    const isGranted = open.length >= lease.wanted;
    const kept = isGranted ? open.slice(0, lease.wanted) : lease.keeps ? open : [];
    for (const path of kept) spokenFor.set(path, lease);
  }
  return spokenFor;
}

type Ranked = Pick<Waiting, 'id' | 'rank'>;

/** Ranks may be equal. */
export const byRank = (one: Ranked, other: Ranked): number => one.rank - other.rank || (one.id < other.id ? -1 : 1);
