import { sql } from 'kysely';
import type { Now, Storage } from '../storage/storage.ts';
import { isTaken } from './find.ts';
import { recordLockChanges } from './history.ts';

/** Limit per transaction: an expired lock may be reported to many hooks, and other changes wait meanwhile. */
const maxDeliveriesAtOnce = 500;

/** Number of expired locks read to find their workspaces. The next call finds the others. */
const maxLookedAt = 10_000;

/**
 * Removes expired locks whose paths are open again, and queues their events, in one transaction per workspace, so that a
 * workspace with many does not delay others. It is not urgent: these locks block nobody. Returns the number of removed
 * locks; if not 0, more may remain.
 */
export async function removeExpiredLocks({ read, now, commit }: Storage): Promise<number> {
  const workspaces = await read
    .selectFrom((from) =>
      from
        .selectFrom('locks')
        .select('workspace_id')
        .where(isOver(now))
        .orderBy('expires_at')
        .limit(maxLookedAt)
        .as('expired'),
    )
    .select('workspace_id')
    .distinct()
    .execute();
  const removedFrom = (workspace: string): Promise<number> =>
    commit({ workspace }, async (db) => {
      const { hooks } = await db
        .selectFrom('hooks')
        .select(({ fn }) => fn.countAll<number>().as('hooks'))
        .where('workspace_id', '=', workspace)
        .where('active', '=', 1)
        .executeTakeFirstOrThrow();
      const removed = await db
        .deleteFrom('locks')
        .where('workspace_id', '=', workspace)
        .where('path', 'in', (from) =>
          from
            .selectFrom('locks')
            .select('path')
            .where('workspace_id', '=', workspace)
            .where(isOver(now))
            .orderBy('expires_at')
            .limit(Math.ceil(maxDeliveriesAtOnce / Math.max(1, Number(hooks)))),
        )
        .where(isOver(now))
        .returningAll()
        .execute();
      const changes = removed.map((lock) => ({ kind: 'expired' as const, lock }));
      await recordLockChanges(db, now, changes);
      return removed.length;
    });
  const removed = await Promise.all(workspaces.map(({ workspace_id }) => removedFrom(workspace_id)));
  return removed.reduce((sum, count) => sum + count, 0);
}

/** With a subquery, because PostgreSQL uses the index only if the time is evaluated once. */
function isOver(now: Now) {
  const time = sql<number>`(select ${now})`;
  return sql<boolean>`(expires_at <= ${time} and not ${isTaken(time)})`;
}
