import { sql } from 'kysely';
import type { Now, Storage } from '../storage/storage.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { expiredEvent } from './lock-events.ts';

const atOnce = 500;

/** In a query of its own: PostgreSQL uses the index only for a time that it has to find out once. */
const isOver = (now: Now) => sql<boolean>`expires_at <= (select ${now})`;

/**
 * Removes locks that have expired and tells of it, in each workspace by itself. Nothing waits for this: an expired lock
 * holds nobody up, whether its row is still there or not. Gives how many there were; as many as it takes at once means that
 * there may be more.
 */
export async function removeExpiredLocks({ read, now, commit }: Storage): Promise<number> {
  const expired = await read
    .selectFrom('locks')
    .select(['workspace_id', 'expires_at'])
    .where(isOver(now))
    .orderBy('expires_at')
    .limit(atOnce)
    .execute();
  const last = expired.at(-1);
  if (last === undefined) return 0;
  const removedFrom = (workspace: string): Promise<number> =>
    commit({ workspace }, async (db) => {
      const removed = await db
        .deleteFrom('locks')
        .where('workspace_id', '=', workspace)
        .where('expires_at', '<=', last.expires_at)
        .where(isOver(now))
        .returningAll()
        .execute();
      await recordEvents(db, now, removed.map(expiredEvent));
      return removed.length;
    });
  const workspaces = new Set(expired.map(({ workspace_id }) => workspace_id));
  const removed = await Promise.all([...workspaces].map(removedFrom));
  return removed.reduce((sum, count) => sum + count, 0);
}
