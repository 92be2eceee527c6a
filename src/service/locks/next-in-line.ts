import { sql } from 'kysely';
import { batchQuery, inputIndex, numberOf, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import { findCommittedLock, type LockKey, nameOf } from './find.ts';
import { requestGapMs } from './wait-terms.ts';
import { isPresent, type WaitRequest } from './waits.ts';

/** A lease may be passed on a free path for this part of its wait. One level of urgency is worth as much. */
const passedForMs = 5 * 60_000;

/** A present lease as it is in the database, and how long the others wait for it at most. */
export interface Next extends Waiting {
  readonly kind: WaitRequest['kind'];
  readonly owner: string;
  readonly origin: string | null;
  readonly presentMs: number;
}

/** For each of these free paths, the lease that it is kept for. */
export const keptFor = (db: Database, paths: readonly LinePath[]): Promise<readonly (Next | undefined)[]> =>
  nextInLine<Next>(
    {
      async first(paths, many) {
        const rows = await (many ? selectMany : selectFirst)(db, paths);
        return rows.map(({ index, keeps, ...lease }) => ({ index, lease: { ...lease, keeps: keeps === 1 } }));
      },
      async withEnough(sets) {
        const rows = await selectWithEnough(db, sets);
        return new Map(rows.map(({ id, isFirst }) => [id, { isFirst: isFirst === 1 }]));
      },
      free: (set) => freePathsOf(db, set.id),
    },
    paths,
  );

const committedKeptFor = coalesceReads((db, keys: readonly LockKey[]) => keptFor(db, keys));

/** Whether a path is free, the lease that it is then kept for, and when to look again if nothing changes. */
export async function readPath(read: Database, key: LockKey) {
  const [found, next] = await Promise.all([findCommittedLock(read, key), committedKeptFor(read, key)]);
  // The clock of the database counts: that of this process may differ.
  const isFree = found === undefined;
  return { isFree, next, lookAgainMs: isFree ? lookAgainMs(next) : found.remainingMs };
}

/** Whether anyone is present in the workspace of the member, with a rank before that of the wait, if there is one. */
const isAnyoneBefore = (
  wait: string,
) => sql<boolean>`exists (select 1 from waits where workspace_id = ${textOf('workspace')}
  and ${isPresent} and rank < ${rankOf(wait)})`;

const lastRank = sql.lit(Number.MAX_SAFE_INTEGER);

const rankOf = (wait: string) =>
  sql<number>`coalesce((select rank from waits where id = ${textOf(wait)} and ${isPresent}), ${lastRank})`;

/**
 * Which of these requests are after others of their workspaces, whatever these wait for. Most often, nobody waits: then
 * thousands of paths need not be written as JSON.
 */
export const selectAfterOthers = batchQuery((db, members) =>
  db.selectFrom(members).where(isAnyoneBefore('before')).select(inputIndex.as('index')),
);

/**
 * The first present leases of each line, up to a number of them. Where that one is in the line is found first: a line
 * may have a thousand leases.
 */
const firstInLine = (count: number) =>
  batchQuery((db, members) =>
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
              numberOf('after').as('after'),
              fn
                .coalesce(
                  selectFrom('waits').select('rank').where('id', '=', textOf('before')).where(isPresent),
                  lastRank,
                )
                .as('before'),
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
                  lastRank,
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

const selectFirst = firstInLine(1);
const selectMany = firstInLine(50);

/** Sets with as many free paths as they want, and whether nobody in the workspace is before them. */
const selectWithEnough = batchQuery((db, members) => {
  const linesOf = sql`from wait_paths as line where line.wait_id = ${textOf('id')}`;
  return db
    .selectFrom(members)
    .where(
      sql<boolean>`case when ${numberOf('wanted')} = ${numberOf('size')}
        then not exists (select 1 ${linesOf} and not ${isFree('line')})
        else (select count(*) ${linesOf} and ${isFree('line')}) >= ${numberOf('wanted')} end`,
    )
    .select([textOf('id').as('id'), sql<number>`case when ${isAnyoneBefore('id')} then 0 else 1 end`.as('isFirst')]);
});

const freePathsOf = (db: Database, id: string): Promise<LockKey[]> =>
  db
    .selectFrom('wait_paths as line')
    .where('line.wait_id', '=', id)
    .where(isFree('line'))
    .select(['line.workspace_id as workspace', 'line.path'])
    .orderBy('line.position')
    .execute();

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
  readonly size: number;
  /** How many of its paths it needs. */
  readonly wanted: number;
  /** Whether it has waited so long that its free paths are kept for it until it has enough of them. */
  readonly keeps: boolean;
}

/** A free path. */
export interface LinePath extends LockKey {
  /** Only leases before this one matter, if it waits. */
  readonly before?: string | undefined;
}

export interface Lines<Lease extends Waiting> {
  /** The first leases after a rank in the line of each path, given by its index: one, or many. */
  readonly first: (
    paths: readonly (LinePath & { readonly after: number })[],
    many: boolean,
  ) => Promise<readonly { readonly index: number; readonly lease: Lease }[]>;
  /** Those with as many free paths as they want, by id, and whether nobody at all is before them. */
  readonly withEnough: (sets: readonly Lease[]) => Promise<ReadonlyMap<string, { readonly isFirst: boolean }>>;
  readonly free: (set: Lease) => Promise<readonly LockKey[]>;
}

/**
 * The next in line: for each free path, the lease that it is kept for. In the order of their ranks, a lease that has
 * enough free paths gets them as a whole. Any other one is passed on its free paths, until it has waited too long for
 * that. Follows each line only as far as needed: hundreds of leases may wait for the same thousands of paths.
 */
export async function nextInLine<Lease extends Waiting>(lines: Lines<Lease>, asked: readonly LinePath[]) {
  /** How far each line was followed: up to a lease that its path is kept for, or that was passed. */
  const reached = new Map<string, { readonly lease: Lease; readonly isKept: boolean }>();
  /** The paths of each lease that are kept for it. */
  const shares = new Map<string, ReadonlySet<string> | 'all'>();
  const isKept = (path: LockKey): boolean => reached.get(nameOf(path))?.isKept === true;

  async function follow(paths: readonly LinePath[]): Promise<void> {
    let open = paths.filter((path) => !isKept(path));
    for (let round = 0; open.length > 0; round += 1) {
      const after = open.map((path) => ({ ...path, after: reached.get(nameOf(path))?.lease.rank ?? beforeAll }));
      const found = await lines.first(after, round > 0 && open.length <= maxFollowedTogether);
      const leases = new Map(found.map(({ lease }) => [lease.id, lease])).values();
      const unknown = [...leases].filter((lease) => !shares.has(lease.id) && !getsAll(lease));
      const withEnough = unknown.length === 0 ? undefined : await lines.withEnough(unknown);
      for (const { index, lease } of found.toSorted((one, other) => byRank(one.lease, other.lease))) {
        const path = open[index];
        if (path === undefined || isKept(path)) continue;
        const share = shares.get(lease.id) ?? (await shareOf(lease, withEnough?.get(lease.id)));
        shares.set(lease.id, share);
        reached.set(nameOf(path), { lease, isKept: share === 'all' || share.has(nameOf(path)) });
      }
      const further = new Set(found.map(({ index }) => index));
      open = open.filter((path, index) => further.has(index) && !isKept(path));
    }
  }

  async function shareOf(lease: Lease, enough?: { readonly isFirst: boolean }): Promise<ReadonlySet<string> | 'all'> {
    if (getsAll(lease) || (enough?.isFirst && lease.wanted === lease.size)) return 'all';
    if (enough === undefined && !lease.keeps) return new Set();
    const free = await lines.free(lease);
    await follow(free.map((path) => ({ ...path, before: lease.id })));
    const open = free.map(nameOf).filter((name) => {
      const found = reached.get(name);
      return found?.isKept !== true || byRank(found.lease, lease) > 0;
    });
    if (open.length >= lease.wanted) return new Set(open.slice(0, lease.wanted));
    return new Set(lease.keeps ? open : []);
  }

  await follow(asked);
  return asked.map((path) => (isKept(path) ? reached.get(nameOf(path))?.lease : undefined));
}

const beforeAll = Number.MIN_SAFE_INTEGER;

/** Lines that are followed more than one lease at a time: each result has a row for every path and lease. */
const maxFollowedTogether = 1_000;

/** Whether it gets each of its paths that is free and not kept for a lease before it, whatever the state of the others. */
const getsAll = ({ size, wanted, keeps }: Waiting): boolean => size === 1 || (keeps && wanted === size);

type Ranked = Pick<Waiting, 'id' | 'rank'>;

/** Ranks may be equal. */
export const byRank = (one: Ranked, other: Ranked): number => one.rank - other.rank || (one.id < other.id ? -1 : 1);
