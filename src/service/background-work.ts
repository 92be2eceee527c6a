import type { Logger } from 'pino';
import { removeOldAudit } from './audit/remove-audit.ts';
import { createDatabaseGauges } from './database-gauges.ts';
import { removeOldResponses } from './idempotency/remembered-responses.ts';
import { queueSyncsForBases } from './latest/release-merged.ts';
import type { ObjectMaintenance } from './lfs/object-maintenance.ts';
import { removeOldLockHistory } from './locks/history.ts';
import { removeOldPlaces } from './locks/line.ts';
import type { Locks } from './locks/locks.ts';
import { createBacklogWatch } from './outbox/backlog.ts';
import type { Metrics } from './runtime/metrics.ts';
import { repeat } from './runtime/repeat.ts';
import { removeEndedSessions } from './sessions/sessions.ts';
import type { Retention } from './storage/remove-old.ts';
import type { Storage } from './storage/storage.ts';
import { removeOldSyncs } from './syncs/queue.ts';
import type { LastUse } from './tokens/last-use.ts';
import { removeExchangedTokens } from './trust/exchanged-tokens.ts';
import { clearHooks } from './webhooks/clear-hooks.ts';
import { removeOldDeliveries } from './webhooks/delivery-queue.ts';

const tidyEveryMs = 10 * 60_000;

interface BackgroundWorkOptions extends Retention {
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly remembered: { enforce(): Promise<void> };
  readonly lastUse: LastUse;
  readonly locks: Pick<Locks, 'removeExpired' | 'keepPresent' | 'grantToPeople'>;
  readonly objectMaintenance: ObjectMaintenance;
  readonly signal: AbortSignal;
  onError(error: unknown): void;
}

/** Periodic work of one instance. */
export function startBackgroundWork(options: BackgroundWorkOptions): { stop(): Promise<void> } {
  const { storage, metrics, log, lastUse, locks, remembered, objectMaintenance, onError } = options;
  const gauges = createDatabaseGauges(storage, metrics);

  const every = (ms: number, work: () => Promise<void>, when?: { readonly atOnce: boolean }) =>
    repeat(ms, work, onError, when);
  const stopRepeating = [
    every(500, async () => {
      for (let expired = 1; expired > 0; ) {
        expired = await locks.removeExpired();
        metrics.expiredLocks.inc(expired);
      }
    }),
    every(1_000, remembered.enforce),
    every(1_000, locks.grantToPeople),
    // A fraction of the time that others wait for the clients of an instance that was killed.
    every(1_500, locks.keepPresent),
    // A merge within this time after a lock does not end it.
    every(2_000, () => queueSyncsForBases(storage)),
    every(5_000, createBacklogWatch(storage, metrics, log)),
    every(5_000, () => clearHooks(storage, options.signal)),
    every(10_000, lastUse.write),
    every(15_000, gauges.measureWorkspaces, { atOnce: true }),
    // Clients can add places as fast as they can send requests.
    every(60_000, () => removeOldPlaces(storage)),
    every(tidyEveryMs, gauges.measureTokens, { atOnce: true }),
    every(tidyEveryMs, objectMaintenance.maintainAll),
    every(tidyEveryMs, async () => {
      await removeOldResponses(storage);
      await removeOldDeliveries(storage, options);
      await removeOldSyncs(storage, options);
      await removeOldLockHistory(storage, options);
      await removeOldAudit(storage, options);
      await removeEndedSessions(storage);
      await removeExchangedTokens(storage);
    }),
  ];

  return {
    async stop() {
      await Promise.all(stopRepeating.map((stop) => stop()));
      await lastUse.write().catch(onError);
    },
  };
}
