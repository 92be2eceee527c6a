import type { Logger } from 'pino';
import { removeOldAudit } from './audit/remove-audit.ts';
import { createDatabaseGauges } from './database-gauges.ts';
import { removeOldResponses } from './idempotency/remembered-responses.ts';
import type { ObjectMaintenance } from './lfs/object-maintenance.ts';
import { removeExpiredLocks } from './locks/expire.ts';
import { removeOldLockHistory } from './locks/history.ts';
import type { RefusedRequests } from './locks/refused-requests.ts';
import { createBacklogWatch, recountBacklogs } from './outbox/backlog.ts';
import type { Metrics } from './runtime/metrics.ts';
import { repeat } from './runtime/repeat.ts';
import { removeEndedSessions } from './sessions/sessions.ts';
import { type Retention, removeResponsesBeyond } from './storage/remove-old.ts';
import type { Storage } from './storage/storage.ts';
import { removeOldSyncs } from './syncs/queue.ts';
import { removeExchangedTokens } from './tokens/exchanged.ts';
import type { LastUse } from './tokens/last-use.ts';
import { removeOldDeliveries } from './webhooks/delivery-queue.ts';

const expiryEveryMs = 500;
const rememberedEveryMs = 1_000;
const refusedEveryMs = 5_000;
const backlogsEveryMs = 5_000;
const lastUseEveryMs = 10_000;
const gaugesEveryMs = 15_000;
const tidyEveryMs = 10 * 60_000;
/** So much of what may be remembered is taken before it is counted again. */
const uncounted = 1 / 16;

export interface BackgroundWork {
  /** An answer of so many bytes was stored to be repeated. */
  noteRemembered(bytes: number): void;
  stop(): Promise<void>;
}

interface BackgroundWorkOptions extends Retention {
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly maxRememberedBytes: number;
  readonly lastUse: LastUse;
  readonly refusedRequests: RefusedRequests;
  readonly objectMaintenance: ObjectMaintenance;
  onLockEvent(): void;
  onError(error: unknown): void;
}

/** Periodic work of one instance. */
export function startBackgroundWork(options: BackgroundWorkOptions): BackgroundWork {
  const { storage, metrics, log, maxRememberedBytes, lastUse, refusedRequests, objectMaintenance, onError } = options;
  // The amount left by an earlier process is unknown.
  let rememberedBytes = Number.POSITIVE_INFINITY;

  const gauges = createDatabaseGauges(storage, metrics);

  const every = (ms: number, work: () => Promise<void>) => repeat(ms, work, onError);
  const stopRepeating = [
    every(expiryEveryMs, async () => {
      for (let expired = 1; expired > 0; ) {
        expired = await removeExpiredLocks(storage);
        if (expired > 0) options.onLockEvent();
        metrics.expiredLocks.inc(expired);
      }
    }),
    every(rememberedEveryMs, async () => {
      if (rememberedBytes < maxRememberedBytes * uncounted) return;
      rememberedBytes = 0;
      metrics.droppedResponses.inc(await removeResponsesBeyond(storage, maxRememberedBytes));
    }),
    every(refusedEveryMs, refusedRequests.write),
    every(backlogsEveryMs, createBacklogWatch(storage, metrics, log)),
    every(lastUseEveryMs, lastUse.write),
    every(tidyEveryMs, async () => {
      await removeOldResponses(storage);
      await removeOldDeliveries(storage, options);
      await recountBacklogs(storage);
      await removeOldSyncs(storage, options);
      await removeOldLockHistory(storage, options);
      await removeOldAudit(storage, options);
      await removeEndedSessions(storage);
      await removeExchangedTokens(storage);
    }),
    every(tidyEveryMs, objectMaintenance.lookAtAll),
    repeat(gaugesEveryMs, gauges.measureWorkspaces, onError, { atOnce: true }),
    repeat(tidyEveryMs, gauges.measureTokens, onError, { atOnce: true }),
  ];

  return {
    noteRemembered(bytes) {
      rememberedBytes += bytes;
    },
    async stop() {
      await Promise.all(stopRepeating.map((stop) => stop()));
      await lastUse.write().catch(onError);
    },
  };
}
