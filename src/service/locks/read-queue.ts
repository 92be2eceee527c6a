import { sql } from 'kysely';
import type { QueuePosition } from '../../interface/problem.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { defaultUrgency, isPresent, type LineQuery } from './line.ts';
import type { LockRow } from './lock-row.ts';

/** The position that each place has, or would get, and the number of those who wait. */
export async function queuePositions(
  db: Database,
  now: Now,
  queries: readonly LineQuery[],
): Promise<readonly QueuePosition[]> {
  const rows = await countLines(db, now, queries);
  return inInputOrder(queries, rows).map((row): QueuePosition => {
    const length = Number(row?.length ?? 0);
    return { position: 1 + Number(row?.isIn ? row.ahead : length), length };
  });
}

export async function countWaiting(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  locks: readonly LockRow[],
): Promise<ReadonlyMap<string, number>> {
  const lines = locks.map(({ workspace_id: workspace, path, folded_path }) => ({
    workspace,
    path: folded_path ?? path,
    placeId: null,
  }));
  const queues = await queuePositions(read, now, lines);
  return new Map(locks.map(({ id }, index) => [id, queues[index]?.length ?? 0]));
}

export const queuePositionOf = coalesceReads(queuePositions);

const countLines = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('lock_lines', (join) =>
      join.on('lock_lines.workspace_id', '=', textOf('workspace')).on('lock_lines.path', '=', textOf('path')),
    )
    .innerJoin('lock_places', 'lock_places.id', 'lock_lines.place_id')
    .leftJoin('lock_lines as own', (join) =>
      join
        .onRef('own.workspace_id', '=', 'lock_lines.workspace_id')
        .onRef('own.path', '=', 'lock_lines.path')
        .on('own.place_id', '=', textOf('placeId')),
    )
    .where(({ or, eb }) => or([isPresent(now), eb('lock_places.id', '=', textOf('placeId'))]))
    .groupBy(sql`asked.key`)
    .select([
      inputIndex.as('index'),
      sql<number>`count(*)`.as('length'),
      sql<number>`count(own.place_id)`.as('isIn'),
      sql<number>`sum(case when lock_lines.rank < own.rank or (lock_lines.rank = own.rank and lock_lines.place_id < own.place_id) then 1 else 0 end)`.as(
        'ahead',
      ),
    ]),
);

export type QueuedRequest = Awaited<ReturnType<typeof listQueue>>[number];

const maxListed = 1_000;

export async function listQueue(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  { workspace, path }: { readonly workspace: string; readonly path?: string | undefined },
) {
  let query = read
    .selectFrom('lock_lines')
    .innerJoin('lock_places', 'lock_places.id', 'lock_lines.place_id')
    .select([
      'lock_places.id as placeId',
      'lock_lines.path as line',
      'asked_path',
      'owner',
      'origin',
      'note',
      'since',
      'urgency',
    ])
    .where('lock_lines.workspace_id', '=', workspace)
    .where(({ or, eb }) => or([isPresent(now), eb('lock_places.ttl', 'is not', null)]))
    .orderBy('lock_lines.path')
    .orderBy('lock_lines.rank')
    .orderBy('lock_places.id')
    .limit(maxListed);
  if (path !== undefined) query = query.where('lock_lines.path', '=', path);
  const lengths = new Map<string, number>();
  return (await query.execute()).map(({ line, asked_path, since, urgency, ...shown }) => {
    const position = (lengths.get(line) ?? 0) + 1;
    lengths.set(line, position);
    return { path: asked_path, position, ...shown, since: asTimestamp(since), priority: priorityOf(urgency) };
  });
}

const priorityOf = (urgency: number): 'high' | 'normal' | 'low' =>
  urgency < defaultUrgency ? 'high' : urgency > defaultUrgency ? 'low' : 'normal';
