import { sql } from 'kysely';
import { batchQuery, inInputOrder, inputIndex, numberOf, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now } from '../storage/storage.ts';
import { isTaken } from './find.ts';
import { isPresent, type LinePath, requestGapMs } from './waits.ts';

/** A lease may be passed on a free path for this part of its wait. One level of urgency is worth as much. */
export const passedForMs = 5 * 60_000;

/** Present leases as they are in the database, and how long the others wait for them at most. */
export interface Next extends Waiting {
  readonly kind: 'request' | 'ask';
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
  now: Now,
  keys: readonly LinePath[],
): Promise<readonly (Next | undefined)[]> {
  const waited = keys.length === 0 ? [] : await waitedFor(db, now, keys);
  if (waited.length === 0) return keys.map(() => undefined);
  const known = new Map<string, Next>();
  const seen = new Set<string>();
  for (let paths: readonly LinePath[] = waited.flatMap(({ index }) => keys[index] ?? []); paths.length > 0; ) {
    for (const path of paths) seen.add(nameOf(path));
    const singles = await firstSingles(db, now, paths);
    for (const { path, ...single } of singles) add(known, { ...single, free: [path] });
    const ranks = inInputOrder(paths, singles).map((single) => single?.rank);
    const asked = paths.map((path, index) => ({ ...path, before: ranks[index] ?? Number.MAX_SAFE_INTEGER }));
    const sets = (await firstSets(db, now, asked)).filter(({ id }) => !known.has(id));
    const free = Map.groupBy(await freePaths(db, now, sets), ({ id }) => id);
    for (const set of sets) known.set(set.id, { ...set, free: free.get(set.id)?.map((path) => nameOf(path)) ?? [] });
    // Where a set can be granted, who is before it on its other paths matters, too.
    const further = sets.flatMap(({ id, wanted }) => {
      const open = free.get(id) ?? [];
      return open.length >= wanted ? open : [];
    });
    paths = distinct(further.filter((path) => !seen.has(nameOf(path))));
  }
  const spokenFor = nextInLine([...known.values()]);
  return keys.map((key) => spokenFor.get(nameOf(key)));
}

export const committedKeptFor = coalesceReads(keptFor);

const nameOf = ({ workspace, path }: LinePath): string => `${workspace} ${path}`;

const distinct = (paths: readonly LinePath[]): readonly LinePath[] => [
  ...new Map(paths.map(({ workspace, path }) => [nameOf({ workspace, path }), { workspace, path }])).values(),
];

/** A lock with several paths in question waits once for each of them only if it is a set. */
function add(known: Map<string, Next>, single: Next): void {
  if (!known.has(single.id)) known.set(single.id, single);
}

const waitedFor = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .select(inputIndex.as('index'))
    // Evaluated once: most often, nobody waits for any of thousands of paths.
    .where(({ exists, selectFrom }) => exists(selectFrom('waits').select('id')))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('wait_paths')
          .select('wait_id')
          .where('wait_paths.workspace_id', '=', textOf('workspace'))
          .where('wait_paths.path', '=', textOf('path')),
      ),
    ),
);

const columns = ['waits.id', 'waits.kind', 'waits.owner', 'waits.origin', 'waits.rank', 'waits.wanted'] as const;

const keeps = (now: Now) => sql<boolean>`waits.since <= ${now} - ${sql.lit(passedForMs)}`;
const presentMs = (now: Now) => sql<number>`waits.present_until - ${now}`;

/** The first present lease of one path in each line. It is granted where nobody before it is: later ones never matter. */
const selectSingles = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('waits', (join) =>
      join.on('waits.id', '=', ({ selectFrom }) =>
        selectFrom('wait_paths as line')
          .innerJoin('waits', 'waits.id', 'line.wait_id')
          .select('line.wait_id')
          .whereRef('line.workspace_id', '=', textOf('workspace'))
          .whereRef('line.path', '=', textOf('path'))
          .where('line.is_set', '=', 0)
          .where(isPresent(now))
          .orderBy('line.rank')
          .orderBy('line.wait_id')
          .limit(1),
      ),
    )
    .select([...columns, inputIndex.as('index'), presentMs(now).as('presentMs')]),
);

const firstSingles = async (db: Database, now: Now, paths: readonly LinePath[]) =>
  (await selectSingles(db, now, paths)).map((row) => {
    const path = paths[row.index];
    return { ...row, kind: kindOf(row.kind), path: path === undefined ? '' : nameOf(path), keeps: true };
  });

/** The present leases of several paths that are before the first one of a single path. */
const selectSets = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('wait_paths as line', (join) =>
      join
        .on('line.workspace_id', '=', textOf('workspace'))
        .on('line.path', '=', textOf('path'))
        .on('line.is_set', '=', sql.lit(1))
        .on('line.rank', '<=', numberOf('before')),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(isPresent(now))
    .groupBy(columns)
    .groupBy(['waits.since', 'waits.size', 'waits.present_until'])
    .select([
      ...columns,
      sql<number>`case when ${keeps(now)} then 1 else 0 end`.as('keeps'),
      sql<number>`case when waits.wanted = waits.size then 1 else 0 end`.as('isWhole'),
      presentMs(now).as('presentMs'),
    ]),
);

const firstSets = async (db: Database, now: Now, paths: readonly (LinePath & { readonly before: number })[]) =>
  (await selectSets(db, now, paths)).map((row) => ({
    ...row,
    kind: kindOf(row.kind),
    keeps: row.keeps === 1,
    isWhole: row.isWhole === 1,
  }));

// Only joinLine() writes the column.
const kindOf = (kind: string) => kind as Next['kind'];

const selectFree = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('wait_paths', (join) => join.on('wait_paths.wait_id', '=', textOf('id')))
    .where(isFree(now))
    .select(['wait_paths.wait_id as id', 'wait_paths.workspace_id as workspace', 'wait_paths.path'])
    .orderBy('wait_paths.position'),
);

const selectBlocked = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .select(textOf('id').as('id'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('wait_paths')
          .select('wait_id')
          .where('wait_paths.wait_id', '=', textOf('id'))
          .where(({ not }) => not(isFree(now))),
      ),
    ),
);

/** The free paths of these sets; none for a set that needs all of its paths, lacks one, and keeps none. */
async function freePaths(
  db: Database,
  now: Now,
  sets: readonly { readonly id: string; readonly keeps: boolean; readonly isWhole: boolean }[],
): Promise<readonly (LinePath & { readonly id: string })[]> {
  if (sets.length === 0) return [];
  const whole = sets.filter(({ isWhole, keeps }) => isWhole && !keeps);
  const blocked = new Set(whole.length === 0 ? [] : (await selectBlocked(db, now, whole)).map(({ id }) => id));
  const others = sets.filter(({ id }) => !blocked.has(id));
  return others.length === 0 ? [] : selectFree(db, now, others);
}

/** Whether no lock keeps a path of a line from others. A single condition with `or` would read all locks of the workspace. */
export const isFree = (now: Now) =>
  sql<boolean>`(not exists (select 1 from locks where locks.workspace_id = wait_paths.workspace_id
    and locks.path = wait_paths.asked_path and ${isTaken(now)})
    and not exists (select 1 from locks where locks.workspace_id = wait_paths.workspace_id
    and locks.folded_path = wait_paths.path and ${isTaken(now)}))`;

/** How long the others wait for a lease at most, until they look again. */
export const lookAgainMs = ({ kind, presentMs }: Next): number =>
  kind === 'ask' ? presentMs : Math.min(Math.max(presentMs, 1), requestGapMs);

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

/** Ranks may be equal. */
const byRank = (one: Waiting, other: Waiting): number => one.rank - other.rank || (one.id < other.id ? -1 : 1);
