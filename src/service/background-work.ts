import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import { milliseconds } from '../interface/duration.ts';
import { removeOldResults } from './idempotency/idempotency.ts';
import { removeUnusedObjects } from './lfs/unused-objects.ts';
import { removeExpiredLocks, removeOldLockHistory } from './locks/history.ts';
import { fileEndedLocks, removeOldLeases } from './locks/lease-store.ts';
import { removeOldWaits } from './locks/waits.ts';
import { measureBacklogs } from './outbox/outbox.ts';
import type { ServiceParts } from './parts.ts';
import type { Metrics } from './runtime/metrics.ts';
import { repeat } from './runtime/repeat.ts';
import { keptForMs, removeOld } from './storage/remove-old.ts';
import type { Storage } from './storage/storage.ts';
import { now } from './storage/timestamp.ts';
import { startSyncs } from './syncs/sync-worker.ts';
import { dropDeliveries } from './webhooks/delivery-queue.ts';
import { startDeliveries } from './webhooks/delivery-worker.ts';

const cleanupEveryMs = 10 * 60_000;

export function startBackgroundWork(parts: ServiceParts): { stop(): Promise<void> } {
  const { pullThrough } = parts;
  const syncs = startSyncs(parts);
  const deliveries = startDeliveries(parts);
  const periodicWork = startPeriodicWork(parts);
  return {
    async stop() {
      const work = [syncs, pullThrough, deliveries, periodicWork];
      await Promise.all(work.map((each) => each.stop()));
    },
  };
}

function startPeriodicWork(parts: ServiceParts): { stop(): Promise<void> } {
  const { metrics, databaseClock, locks } = parts;
  const joinsFailedAt = new Map<string, number>();
  const stopping = new AbortController();
  const storage = changesUntil(parts.storage, stopping.signal);
  const onError = (error: unknown): void => {
    if (error !== stopping.signal.reason) parts.onError(error);
  };
  const gauges = createDatabaseGauges(storage, metrics);

  const every = (ms: number, work: () => Promise<void>, when?: { readonly atOnce: boolean }) =>
    repeat(ms, work, onError, when);
  const stopRepeating = [
    // Current disks take longer than this to write the default reserve.
    every(500, parts.freeDisk.measure),
    every(500, async () => {
      for (let expired = 1; expired > 0; ) {
        expired = await removeExpiredLocks(storage);
        metrics.expiredLocks.inc(expired);
      }
    }),
    every(500, async () => {
      while (await fileEndedLocks(storage));
    }),
    every(1_000, locks.tellPeople),
    every(1_000, () => dropDeliveries(storage)),
    // A fraction of the time that others wait for the clients of an instance that was killed.
    // Not awaited: the next round for other workspaces must not wait for a blocked one.
    every(1_500, async () => void locks.keepPresent()),
    every(5_000, () => measureBacklogs(storage, metrics)),
    every(15_000, gauges.measureWorkspaces, { atOnce: true }),
    every(30_000, () => joinPacks(parts, joinsFailedAt)),
    every(60_000, databaseClock.refresh),
    // Clients can add places as fast as they can send requests.
    every(60_000, () => removeOldWaits(storage)),
    every(cleanupEveryMs, gauges.measureTokens, { atOnce: true }),
    // It reads the folder of each object.
    every(6 * 60 * 60_000, () => removeUnusedObjects(parts), { atOnce: true }),
    every(cleanupEveryMs, () => removeOldData({ ...parts, storage, onError })),
  ];

  return {
    async stop() {
      stopping.abort();
      await Promise.all(stopRepeating.map((stop) => stop()));
    },
  };
}

const maxJoiningMs = 10 * 60_000;

/** It may have failed for want of space, or of time, and would fail again. */
const joinAgainMs = 3_600_000;

/**
 * Keeps mirrors fast after many fetches, one after the other. A failure does no harm. `failedAt` has the times of
 * failures, by workspace.
 */
export async function joinPacks(
  { git, log, stopping, freeDisk }: Pick<ServiceParts, 'git' | 'log' | 'stopping' | 'freeDisk'>,
  failedAt: Map<string, number>,
): Promise<void> {
  for (const workspace of await git.listMirrors()) {
    // The rest of the disk is for locks.
    if (stopping.aborted || freeDisk.isLow()) return;
    if (performance.now() - (failedAt.get(workspace) ?? Number.NEGATIVE_INFINITY) < joinAgainMs) continue;
    await git.maintain(workspace, { timeoutMs: maxJoiningMs, signal: stopping }).catch((error: unknown) => {
      failedAt.set(workspace, performance.now());
      if (!stopping.aborted) log.warn({ workspace, err: error }, 'mirror maintenance failed');
    });
  }
}

/** After the signal, each change rejects with its reason: the removal of millions of rows must not delay a stop. */
export const changesUntil = (storage: Storage, signal: AbortSignal): Storage => ({
  ...storage,
  async commit(scope, change) {
    signal.throwIfAborted();
    return storage.commit(scope, change);
  },
});

/** Removes what is no longer needed, one kind after the other. A failed removal is repeated in the next round. */
export async function removeOldData(parts: Pick<ServiceParts, 'storage' | 'onError' | 'keepAudit'>): Promise<void> {
  const { storage, onError, keepAudit } = parts;
  const removals = [
    () => removeOldResults(storage),
    () => removeOldLeases(storage),
    () => removeOld(storage, { table: 'syncs', time: 'finished_at', keptForMs }),
    () => removeOldLockHistory(storage),
    async () => keepAudit && removeOld(storage, { table: 'audit', time: 'at', keptForMs: milliseconds(keepAudit) }),
    () => removeOld(storage, { table: 'sessions', time: 'expires_at', keptForMs: 0 }),
    // Until then, a row proves that its JWT was exchanged.
    () => removeOld(storage, { table: 'tokens', time: 'forget_at', keptForMs: 0 }),
  ];
  for (const remove of removals) await remove().catch(onError);
}

/** As documented for `workspace_tokens_expiring`. */
const expiringSoonMs = milliseconds({ seconds: 14 * 86_400 });

type Gauges = Pick<Metrics, 'locks' | 'lastSync' | 'lockWaiters' | 'expiringTokens'>;

/** Gauges of the database. Every instance measures them, with the same results. */
export function createDatabaseGauges({ read }: Pick<Storage, 'read'>, metrics: Gauges) {
  /** Counts entries of the primary key: a condition on `expires_at` would read every lock. */
  const measure = (workspace: string) =>
    read
      .selectNoFrom(({ selectFrom }) => [
        selectFrom('locks')
          .select(({ fn }) => fn.countAll<number>().as('locks'))
          .where('workspace_id', '=', workspace)
          .as('locks'),
        selectFrom('synced_branches')
          .select(({ fn }) => fn.max('synced_at').as('last'))
          .where('workspace_id', '=', workspace)
          .as('syncedAt'),
      ])
      .executeTakeFirstOrThrow();

  return {
    async measureWorkspaces(): Promise<void> {
      const measured = [];
      for (const { id } of await read.selectFrom('workspaces').select('id').orderBy('id').execute()) {
        // On SQLite, a query blocks all requests.
        await yieldToEventLoop();
        measured.push({ workspace: id, ...(await measure(id)) });
      }
      // Removed workspaces lose their series, if nobody waits in them.
      for (const { value, labels } of (await metrics.lockWaiters.get()).values)
        if (value === 0) metrics.lockWaiters.remove(labels);
      metrics.locks.reset();
      metrics.lastSync.reset();
      for (const { workspace, locks, syncedAt } of measured) {
        metrics.locks.set({ workspace }, Number(locks));
        if (syncedAt !== null) metrics.lastSync.set({ workspace }, syncedAt / 1_000);
        metrics.lockWaiters.inc({ workspace }, 0);
      }
    },
    async measureTokens(): Promise<void> {
      const { tokens } = await read
        .selectFrom('tokens')
        .select(({ fn }) => fn.countAll<number>().as('tokens'))
        .where(sql<boolean>`expires_at > ${now}`)
        .where(sql<boolean>`expires_at <= ${now} + ${sql.lit(expiringSoonMs)}`)
        .where('revoked_at', 'is', null)
        // A rotated token has a successor, and an exchanged one is not meant to last.
        .where('replaced_by', 'is', null)
        .where('run_id', 'is', null)
        .executeTakeFirstOrThrow();
      metrics.expiringTokens.set(Number(tokens));
    },
  };
}
