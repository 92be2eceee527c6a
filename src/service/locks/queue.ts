import { sql } from 'kysely';
import type { QueuePosition } from '../../interface/problem.ts';
import { inSlices } from '../runtime/map-in-slices.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { type LockKey, type LockRow, nameOf, ownLocksOf } from './find.ts';
import { byRank } from './next-in-line.ts';
import { defaultUrgency } from './wait-terms.ts';
import { isPresent } from './waits.ts';

/** Lines as people and clients see them: who waits, in which order, and how many. */

const queueLengths = async (db: Database, lines: readonly LockKey[]): Promise<readonly number[]> =>
  inInputOrder(lines, await countLines(db, lines)).map((row) => Number(row?.length ?? 0));

const committedLength = coalesceReads(queueLengths);

const countLines = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('wait_paths as line', (join) =>
      join.on('line.workspace_id', '=', textOf('workspace')).on('line.path', '=', textOf('path')),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(isPresent)
    .groupBy(sql`asked.key`)
    .select([inputIndex.as('index'), sql<number>`count(*)`.as('length')]),
);

/** A page of pools may show thousands of locks. On SQLite, counting them blocks other requests. */
const maxCountedAtOnce = 1_000;

export async function countWaiting(read: Database, locks: readonly LockRow[]): Promise<ReadonlyMap<string, number>> {
  const lines = locks.map(({ workspace_id: workspace, path }) => ({ workspace, path }));
  const lengths = await inSlices(lines, maxCountedAtOnce, (slice) => queueLengths(read, slice));
  return new Map(locks.map(({ id }, index) => [id, lengths[index] ?? 0]));
}

/** The place that a new request would get. */
export async function endOfLine(read: Database, line: LockKey): Promise<QueuePosition> {
  const length = await committedLength(read, line);
  return { position: length + 1, length };
}

/**
 * Only the first paths of a lease count towards its place: it may wait for thousands. Requests for the items of a pool,
 * or other shared paths, share the first ones, and hundreds of them query their places twice a minute.
 */
const countedPaths = sql<number>`case when waits.wanted < waits.size then 5 else 20 end`;

/** These waits, and the present leases in their lines. */
const selectLines = batchQuery((db, members) =>
  db
    .with(
      (cte) => cte('lines').materialized(),
      (from) =>
        from
          .selectFrom('wait_paths')
          .innerJoin('waits', 'waits.id', 'wait_id')
          .where(sql<boolean>`wait_id in (select ${textOf('id')} from ${members})`)
          .where('position', '<', countedPaths)
          .select(['wait_paths.workspace_id', 'path'])
          .distinct(),
    )
    .selectFrom('lines')
    .innerJoin('wait_paths as line', (join) =>
      join.onRef('line.workspace_id', '=', 'lines.workspace_id').onRef('line.path', '=', 'lines.path'),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(({ or }) => or([isPresent, sql<boolean>`waits.id in (select ${textOf('id')} from ${members})`]))
    .select(['waits.id', 'waits.rank', 'line.workspace_id as workspace', 'line.path'])
    .select(sql<number>`case when line.position < ${countedPaths} then 1 else 0 end`.as('isCounted'))
    .select(sql<number>`case when ${isPresent} then 1 else 0 end`.as('present')),
);

/** The place of a wait among all that want one of its paths. Coalesced: the clients of a line often ask at once. */
export const placeInLine = coalesceReads(
  async (db: Database, ids: readonly string[]): Promise<readonly QueuePosition[]> => {
    const waits = ids.map((id) => ({ id }));
    const rows = await selectLines(db, waits);
    const lines = Map.groupBy(rows, nameOf);
    const firstPaths = rows.filter(({ isCounted }) => isCounted === 1);
    const own = Map.groupBy(firstPaths, ({ id }) => id);
    const sharedLines = (id: string) =>
      (own.get(id) ?? []).map(nameOf).filter((line) => (lines.get(line)?.length ?? 0) > 1);
    const places = new Map<string, QueuePosition>();
    // Thousands of clients may wait in the same lines, which are sorted only once.
    for (const group of Map.groupBy(ids, (id) => sharedLines(id).sort().join('\n')).values()) {
      const asking = new Set(group);
      const inLines = sharedLines(group[0] ?? '').flatMap((line) => lines.get(line) ?? []);
      const waiting = [...new Map(inLines.map((row) => [row.id, row])).values()].sort(byRank);
      const length = waiting.filter(({ present }) => present === 1).length;
      let ahead = 0;
      for (const { id, present } of waiting) {
        // A wait that is not present counts only for itself.
        if (asking.has(id)) places.set(id, { position: 1 + ahead, length: length + 1 - present });
        ahead += present;
      }
    }
    return ids.map((id) => places.get(id) ?? { position: 1, length: own.has(id) ? 1 : 0 });
  },
);

export type QueuedRequest = Awaited<ReturnType<typeof listQueue>>[number];

const maxListed = 1_000;

/** The requests in the line of a path, in order, or only the one with this id. */
export async function listQueue(read: Database, { workspace, path }: LockKey, waitId?: string) {
  const line = read
    .selectFrom('wait_paths as line')
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where('line.workspace_id', '=', workspace)
    .where('line.path', '=', path)
    .where(isPresent)
    .select(['waits.id as waitId', 'line.path', 'owner', 'origin', 'note', 'since', 'urgency'])
    .select(sql<number | null>`case when kind = 'kept' then present_until end`.as('kept_until'))
    .select(sql<number>`row_number() over (order by line.rank, waits.id)`.as('position'));
  const queue = read.selectFrom(line.as('line')).selectAll().orderBy('position').limit(maxListed);
  const rows = await (waitId === undefined ? queue : queue.where('waitId', '=', waitId)).execute();
  return rows.map(({ since, urgency, kept_until, position, ...shown }) => ({
    ...shown,
    position: Number(position),
    since: asTimestamp(since),
    priority: priorityOf(urgency),
    ...(kept_until !== null && { kept_until: asTimestamp(kept_until) }),
  }));
}

/** Without the id of the wait, which contains the id of a token. */
export const withoutWaitId = ({ waitId: _, ...request }: QueuedRequest): Omit<QueuedRequest, 'waitId'> => request;

const priorityOf = (urgency: number): 'high' | 'normal' | 'low' =>
  urgency < defaultUrgency ? 'high' : urgency > defaultUrgency ? 'low' : 'normal';

/** Limit of the locks of an owner that are searched for waiting clients, or for an end that is near. */
const maxOwnSearched = 1_000;

/** Others who wait for locks of the bearer's owner, longest wait first. */
export const waitsForOwnLocks = (read: Database, bearer: Bearer, limit: number) =>
  read
    .selectFrom(ownLocksOf(read, bearer).limit(maxOwnSearched).as('locks'))
    .innerJoin('wait_paths as line', (join) =>
      join.onRef('line.workspace_id', '=', 'locks.workspace_id').onRef('line.path', '=', 'locks.path'),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(isPresent)
    .select(['locks.workspace_id as workspace', 'locks.path', 'locks.id'])
    .select(['waits.id as waitId', 'waits.owner', 'waits.origin', 'waits.note', 'waits.since'])
    .orderBy('waits.since')
    .orderBy('line.path')
    .limit(limit)
    .execute();

/** The waits of the bearer's owner, from all tokens. */
export const waitsOfOwner = (read: Database, { owner, workspaces }: Bearer, limit: number) =>
  read
    .selectFrom('waits')
    .innerJoin('wait_paths as line', 'line.wait_id', 'waits.id')
    .where('waits.owner', '=', owner)
    .where(isPresent)
    .$if(workspaces !== null, (waits) => waits.where('waits.workspace_id', 'in', workspaces ?? []))
    .select(['waits.workspace_id as workspace', 'line.path', 'waits.id as waitId'])
    .select(['waits.since', sql<number | null>`case when kind = 'kept' then present_until end`.as('keptUntil')])
    .orderBy('waits.since')
    .orderBy('line.position')
    .limit(limit)
    .execute();
