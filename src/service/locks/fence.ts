import { sql } from 'kysely';
import { batchQuery, insertFrom, numberOf, textOf } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';

/** Start value for a workspace without a row. It is above 0 after a restore. */
const beginning = sql<number>`(select value from fences where workspace_id = '')`;

const raiseFences = batchQuery((db, members) =>
  insertFrom(db, members, 'fences', {
    workspace_id: textOf('workspace'),
    value: sql`${beginning} + ${numberOf('count')}`,
  })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        value: sql<number>`fences.value + excluded.value - ${beginning}`,
      }),
    )
    .returningAll(),
);

/** Next fence for each entry, in input order; an entry is the workspace of a new lock. */
export async function nextFences(db: Database, now: Now, workspaces: readonly string[]): Promise<readonly number[]> {
  const counts = Map.groupBy(workspaces, (workspace) => workspace);
  const raises = [...counts].map(([workspace, { length: count }]) => ({ workspace, count }));
  const raised = await raiseFences(db, now, raises);
  const next = new Map(
    raised.map(({ workspace_id, value }) => [workspace_id, value - (counts.get(workspace_id)?.length ?? 0)]),
  );
  return workspaces.map((workspace) => {
    const fence = (next.get(workspace) ?? Number.NaN) + 1;
    next.set(workspace, fence);
    return fence;
  });
}
