import type { Logger } from 'pino';
import { removeOldAudit } from './audit/remove-audit.ts';
import { createDatabaseGauges } from './database-gauges.ts';
import { removeOldResponses } from './idempotency/remembered-responses.ts';
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
import { removeOldDeliveries } from './webhooks/delivery-queue.ts';

const expiryEveryMs = 500;
const rememberedEveryMs = 1_000;
/** A fraction of the time that others wait for the clients of an instance that was killed. */
const presenceEveryMs = 1_500;
const grantEveryMs = 1_000;
const backlogsEveryMs = 5_000;
const lastUseEveryMs = 10_000;
/** A merge within this time after a lock does not end it. */
const basesEveryMs = 2_000;
const gaugesEveryMs = 15_000;
/** Clients can add places as fast as they can send requests. */
const placesEveryMs = 60_000;
const tidyEveryMs = 10 * 60_000;

interface BackgroundWorkOptions extends Retention {
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly remembered: { enforce(): Promise<void> };
  readonly lastUse: LastUse;
  readonly queueSyncs: () => Promise<void>;
  readonly locks: Pick<Locks, 'removeExpired' | 'keepPresent' | 'grantToPeople'>;
  readonly objectMaintenance: ObjectMaintenance;
  onError(error: unknown): void;
}

/** Periodic work of one instance. */
export function startBackgroundWork(options: BackgroundWorkOptions): { stop(): Promise<void> } {
  const { storage, metrics, log, lastUse, locks, remembered, objectMaintenance, onError } = options;
  const gauges = createDatabaseGauges(storage, metrics);

  const every = (ms: number, work: () => Promise<void>) => repeat(ms, work, onError);
  const stopRepeating = [
    every(expiryEveryMs, async () => {
      for (let expired = 1; expired > 0; ) {
        expired = await locks.removeExpired();
        metrics.expiredLocks.inc(expired);
      }
    }),
    every(rememberedEveryMs, remembered.enforce),
    every(presenceEveryMs, locks.keepPresent),
    every(placesEveryMs, () => removeOldPlaces(storage)),
    every(grantEveryMs, locks.grantToPeople),
    every(backlogsEveryMs, createBacklogWatch(storage, metrics, log)),
    every(lastUseEveryMs, lastUse.write),
    every(basesEveryMs, options.queueSyncs),
    every(tidyEveryMs, async () => {
      await removeOldResponses(storage);
      await removeOldDeliveries(storage, options);
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
    async stop() {
      await Promise.all(stopRepeating.map((stop) => stop()));
      await lastUse.write().catch(onError);
    },
  };
}
