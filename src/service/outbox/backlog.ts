import type { Logger } from 'pino';
import type { Metrics } from '../runtime/metrics.ts';
import { batchQuery, insertFrom, numberOf, textOf } from '../storage/batch-query.ts';
import { noteQueued } from '../storage/commit-group.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';

/**
 * Change of the number of deliveries that wait for a hook. The number is updated in the transactions of the deliveries:
 * counting rows for every change of a lock would take longer the more there are.
 */
interface BacklogChange {
  readonly hookId: string;
  /** Negative for deliveries that have finished. */
  readonly added: number;
  /** Number of events that were dropped because the queue was full. */
  readonly dropped: number;
}

/** One statement for all hooks: a workspace may have a hundred hooks that subscribe to the same event. */
const addToBacklogs = batchQuery((db, members) =>
  insertFrom(db, members, 'hook_backlogs', {
    hook_id: textOf('hookId'),
    waiting: numberOf('added'),
    dropped: numberOf('dropped'),
  }).onConflict((conflict) =>
    conflict.column('hook_id').doUpdateSet(({ eb, ref }) => ({
      waiting: eb('hook_backlogs.waiting', '+', ref('excluded.waiting')),
      dropped: eb('hook_backlogs.dropped', '+', ref('excluded.dropped')),
    })),
  ),
);

export async function changeBacklogs(db: Database, now: Now, changed: readonly BacklogChange[]): Promise<void> {
  if (changed.length > 0) await addToBacklogs(db, now, changed);
  if (changed.some(({ added }) => added > 0)) noteQueued(db, 'deliveries');
}

/** Updates the metrics of the queues of hooks, and logs each hook that has lost events since the last call. */
export function createBacklogWatch({ read }: Storage, metrics: Metrics, log: Logger): () => Promise<void> {
  let known: ReadonlyMap<string, number> | undefined;
  return async () => {
    const [waiting] = await read
      .selectFrom('hook_backlogs')
      .select(({ fn }) => fn.max('waiting').as('most'))
      .execute();
    metrics.mostWaiting.set(waiting?.most ?? 0);
    const dropping = await read
      .selectFrom('hook_backlogs')
      .innerJoin('hooks', 'hooks.id', 'hook_id')
      .select(['hook_id as hook', 'workspace_id as workspace', 'dropped'])
      .where('dropped', '>', 0)
      .execute();
    metrics.droppedEvents.set(dropping.reduce((sum, { dropped }) => sum + dropped, 0));
    for (const { hook, workspace, dropped } of dropping) {
      // Events dropped before this instance started have been logged already.
      const events = dropped - (known === undefined ? dropped : (known.get(hook) ?? 0));
      if (events <= 0) continue;
      const about = { hook, workspace, events };
      log.warn(about, 'webhook queue full: events dropped');
    }
    known = new Map(dropping.map(({ hook, dropped }) => [hook, dropped]));
  };
}
