import { setImmediate as untilOthersHadTheirTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Now, Storage } from '../storage/storage.ts';

/**
 * How many deliveries wait for a hook. It is counted as they come and go, in the same transactions: to count the rows would
 * take longer the more there are, for every change of a lock.
 */
export interface BacklogChange {
  readonly added: number;
  /** Events that were not put down, because as many waited as may. */
  readonly dropped: number;
}

export async function changeBacklog(
  db: Database,
  now: Now,
  hookId: string,
  { added, dropped }: BacklogChange,
): Promise<void> {
  const droppedAt = dropped > 0 ? now : null;
  await db
    .insertInto('hook_backlogs')
    .values({
      hook_id: hookId,
      waiting: added,
      dropped,
      first_dropped_at: droppedAt,
      last_dropped_at: droppedAt,
    })
    .onConflict((conflict) =>
      conflict.column('hook_id').doUpdateSet(({ eb, fn, ref }) => ({
        waiting: eb('hook_backlogs.waiting', '+', added),
        dropped: eb('hook_backlogs.dropped', '+', dropped),
        first_dropped_at: fn.coalesce('hook_backlogs.first_dropped_at', ref('excluded.first_dropped_at')),
        last_dropped_at: fn.coalesce(ref('excluded.last_dropped_at'), 'hook_backlogs.last_dropped_at'),
      })),
    )
    .execute();
}

/** One that waited is over. */
export async function shortenBacklog(db: Database, hookId: string): Promise<void> {
  await db
    .updateTable('hook_backlogs')
    .set(({ eb }) => ({ waiting: eb('waiting', '-', 1) }))
    .where('hook_id', '=', hookId)
    .execute();
}

/** All that waited are over. */
export async function emptyBacklog(db: Database, hookId: string): Promise<void> {
  await db.updateTable('hook_backlogs').set({ waiting: 0 }).where('hook_id', '=', hookId).execute();
}

/** Puts the counts right that an instance of an earlier version, which does not know of them, has made wrong. */
export async function recountBacklogs({ read, commit }: Storage): Promise<void> {
  const backlogs = await read.selectFrom('hook_backlogs').select(['hook_id', 'waiting']).execute();
  for (const { hook_id, waiting } of backlogs) {
    await untilOthersHadTheirTurn();
    const [{ count = 0 } = {}] = await waitingFor(read, hook_id).execute();
    // One that has come or gone meanwhile is counted right as well.
    if (Number(count) === waiting) continue;
    await commit('global', (db) =>
      db
        .updateTable('hook_backlogs')
        .set({ waiting: sql<number>`(${waitingFor(db, hook_id)})` })
        .where('hook_id', '=', hook_id)
        .execute(),
    );
  }
}

const waitingFor = (db: Database, hookId: string) =>
  db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('hook_id', '=', hookId)
    .where('finished_at', 'is', null);
