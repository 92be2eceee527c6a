import { sql } from 'kysely';
import type { Now, Storage } from '../storage/storage.ts';
import { recordLockChanges } from './history.ts';

/** Each may be reported to many hooks, and other changes wait for that. */
const maxDeliveriesAtOnce = 500;

/** To find out which workspaces they are of. Those behind them are found when some of these are removed. */
const maxLookedAt = 10_000;

/**
 * Removes expired locks and queues their events, one workspace at a time, so that a workspace with many delays no other.
 * Nothing waits for this: an expired lock blocks nobody. Returns the number; after any, there may be more.
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
      await recordLockChanges(
        db,
        now,
        removed.map((lock) => ({ kind: 'expired', lock })),
      );
      return removed.length;
    });
  const removed = await Promise.all(workspaces.map(({ workspace_id }) => removedFrom(workspace_id)));
  return removed.reduce((sum, count) => sum + count, 0);
}

/** In a query of its own: PostgreSQL uses the index only for a time that it has to find out once. */
const isOver = (now: Now) => sql<boolean>`expires_at <= (select ${now})`;
