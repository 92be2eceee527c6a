import { sql } from 'kysely';
import type { QueuePosition } from '../../interface/problem.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { LockRow } from './lock-row.ts';
import { defaultUrgency, isPresent, type LinePath } from './waits.ts';

/** The number of those who wait in each line. */
const queueLengths = async (db: Database, now: Now, lines: readonly LinePath[]): Promise<readonly number[]> =>
  inInputOrder(lines, await countLines(db, now, lines)).map((row) => Number(row?.length ?? 0));

const committedLength = coalesceReads(queueLengths);

const countLines = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('wait_paths as line', (join) =>
      join.on('line.workspace_id', '=', textOf('workspace')).on('line.path', '=', textOf('path')),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(isPresent(now))
    .groupBy(sql`asked.key`)
    .select([inputIndex.as('index'), sql<number>`count(*)`.as('length')]),
);

export async function countWaiting(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  locks: readonly LockRow[],
): Promise<ReadonlyMap<string, number>> {
  const lines = locks.map(({ workspace_id: workspace, path, folded_path }) => ({
    workspace,
    path: folded_path ?? path,
  }));
  const lengths = await queueLengths(read, now, lines);
  return new Map(locks.map(({ id }, index) => [id, lengths[index] ?? 0]));
}

/** The place of a wait among all that want one of its paths. The place that it would get, if it is not in line. */
export async function queuePositionOf(
  storage: Pick<Storage, 'read' | 'now'>,
  { waitId, ...line }: LinePath & { readonly waitId: string },
): Promise<QueuePosition> {
  const found = await placeInLine(storage, waitId);
  if (found.length > 0) return found;
  const length = await committedLength(storage, line);
  return { position: length + 1, length };
}

export async function placeInLine({ read, now }: Pick<Storage, 'read' | 'now'>, id: string): Promise<QueuePosition> {
  const counts = await read
    .selectFrom((from) =>
      from
        .selectFrom('wait_paths as own')
        .innerJoin('wait_paths as line', (join) =>
          join.onRef('line.workspace_id', '=', 'own.workspace_id').onRef('line.path', '=', 'own.path'),
        )
        .innerJoin('waits', 'waits.id', 'line.wait_id')
        .where('own.wait_id', '=', id)
        .where(({ or, eb }) => or([isPresent(sql`(select ${now})`), eb('waits.id', '=', id)]))
        .select(['waits.id', 'waits.rank', 'own.rank as ownRank'])
        .distinct()
        .as('line'),
    )
    .select([
      sql<number>`count(*)`.as('length'),
      sql<number>`sum(case when rank < "ownRank" or (rank = "ownRank" and id < ${id}) then 1 else 0 end)`.as('ahead'),
    ])
    .executeTakeFirstOrThrow();
  return { position: 1 + Number(counts.ahead), length: Number(counts.length) };
}

export type QueuedRequest = Awaited<ReturnType<typeof listQueue>>[number];

const maxListed = 1_000;

export async function listQueue(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  { workspace, path }: { readonly workspace: string; readonly path?: string | undefined },
) {
  const rows = await read
    .selectFrom('wait_paths as line')
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .select(['waits.id as waitId', 'line.path as line', 'asked_path', 'owner', 'origin', 'note', 'since', 'urgency'])
    .select(sql<number | null>`case when told_at is null then null else present_until end`.as('kept_until'))
    .where('line.workspace_id', '=', workspace)
    .where(isPresent(now))
    .$if(path !== undefined, (lines) => lines.where('line.path', '=', path ?? ''))
    .orderBy('line.path')
    .orderBy('line.rank')
    .orderBy('waits.id')
    .limit(maxListed)
    .execute();
  const lengths = new Map<string, number>();
  return rows.map(({ line, asked_path, since, urgency, kept_until, ...shown }) => {
    const position = (lengths.get(line) ?? 0) + 1;
    lengths.set(line, position);
    return {
      ...{ path: asked_path, position, ...shown, since: asTimestamp(since), priority: priorityOf(urgency) },
      ...(kept_until !== null && { kept_until: asTimestamp(kept_until) }),
    };
  });
}

/** Without the id of its wait, which names a token. */
export const withoutWaitId = ({ waitId: _, ...request }: QueuedRequest): Omit<QueuedRequest, 'waitId'> => request;

const priorityOf = (urgency: number): 'high' | 'normal' | 'low' =>
  urgency < defaultUrgency ? 'high' : urgency > defaultUrgency ? 'low' : 'normal';
