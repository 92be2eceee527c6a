import type { Logger } from 'pino';
import type { Metrics } from '../runtime/metrics.ts';
import type { Storage } from '../storage/storage.ts';

/** How near the quotas of hooks are. Of the whole database: every instance sees the same. */
export interface Backlogs {
  /** Of the workspace that has the most. */
  readonly mostHooks: number;
  /** For the hook for which the most wait. */
  readonly mostWaiting: number;
  /** Hooks for which events were dropped. */
  readonly dropping: readonly { readonly hook: string; readonly workspace: string; readonly dropped: number }[];
}

export async function readBacklogs({ read }: Pick<Storage, 'read'>): Promise<Backlogs> {
  const ofWorkspace = await read
    .selectFrom('hooks')
    .select(({ fn }) => fn.countAll<number>().as('hooks'))
    .groupBy('workspace_id')
    .orderBy('hooks', 'desc')
    .limit(1)
    .executeTakeFirst();
  const waiting = await read
    .selectFrom('hook_backlogs')
    .select(({ fn }) => fn.max('waiting').as('most'))
    .executeTakeFirst();
  const dropping = await read
    .selectFrom('hook_backlogs')
    .innerJoin('hooks', 'hooks.id', 'hook_id')
    .select(['hook_id as hook', 'workspace_id as workspace', 'dropped'])
    .where('dropped', '>', 0)
    .execute();
  return { mostHooks: Number(ofWorkspace?.hooks ?? 0), mostWaiting: waiting?.most ?? 0, dropping };
}

/** Tells the metrics, and the log of each hook that has lost events since the last time. */
export function createNoteBacklogs(metrics: Metrics, log: Logger): (backlogs: Backlogs) => void {
  let known: ReadonlyMap<string, number> | undefined;
  return ({ mostHooks, mostWaiting, dropping }) => {
    metrics.mostHooks.set(mostHooks);
    metrics.mostWaiting.set(mostWaiting);
    metrics.droppedEvents.set(dropping.reduce((sum, { dropped }) => sum + dropped, 0));
    for (const { hook, workspace, dropped } of dropping) {
      const before = known?.get(hook) ?? 0;
      // What was dropped before this instance was started has been told.
      if (known !== undefined && dropped > before) {
        log.warn(
          { hook, workspace, events: dropped - before },
          'events were dropped for a webhook: it has as many waiting deliveries as it may',
        );
      }
    }
    known = new Map(dropping.map(({ hook, dropped }) => [hook, dropped]));
  };
}
