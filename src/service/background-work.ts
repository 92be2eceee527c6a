import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import { milliseconds } from '../interface/duration.ts';
import { withFreeDisk } from './git/git-command.ts';
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
import { startDeliveries } from './webhooks/delivery-worker.ts';
import { removeOrphans } from './workspace-files.ts';

const cleanupEveryMs = 10 * 60_000;
const filesEveryMs = 6 * 60 * 60_000;

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
    // A disk takes longer than this to fill the default reserve.
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
    // A fraction of the time that others wait for the clients of a killed instance.
    // Not awaited, so that a blocked workspace does not delay the next round for the others.
    every(1_500, async () => void locks.keepPresent()),
    every(5_000, () => measureBacklogs(storage, metrics)),
    every(15_000, gauges.measureWorkspaces, { atOnce: true }),
    every(30_000, () => joinPacks(parts, joinsFailedAt)),
    every(60_000, databaseClock.refresh),
    // Clients can add waits as fast as they can send requests.
    every(60_000, () => removeOldWaits(storage)),
    every(cleanupEveryMs, gauges.measureTokens, { atOnce: true }),
    every(cleanupEveryMs, () => removeOrphans(parts), { atOnce: true }),
    // Reads the folder of each object, so it is rare.
    every(filesEveryMs, () => removeUnusedObjects(parts), { atOnce: true }),
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

/** After a failure for lack of space or time, the next attempt would probably fail, too. */
const joinAgainMs = 3_600_000;

/**
 * Joins the packs of one mirror after the other, to keep them fast after many fetches. A failure does no harm.
 * `failedAt` has the time of the last failure of each workspace.
 */
export async function joinPacks(
  { git, log, stopping, freeDisk }: Pick<ServiceParts, 'git' | 'log' | 'stopping' | 'freeDisk'>,
  failedAt: Map<string, number>,
): Promise<void> {
  for (const workspace of await git.listMirrors()) {
    // The free space that is left is for locks.
    if (stopping.aborted || freeDisk.isLow()) return;
    if (performance.now() - (failedAt.get(workspace) ?? Number.NEGATIVE_INFINITY) < joinAgainMs) continue;
    const limits = { timeoutMs: maxJoiningMs, signal: stopping };
    await withFreeDisk(freeDisk, limits, (limits) => git.maintain(workspace, limits)).catch((error: unknown) => {
      failedAt.set(workspace, performance.now());
      if (!stopping.aborted) log.warn({ workspace, err: error }, 'mirror maintenance failed');
    });
  }
}

/** After the signal, every change rejects with its reason, because removing millions of rows must not delay a stop. */
export const changesUntil = (storage: Storage, signal: AbortSignal): Storage => ({
  ...storage,
  async commit(scope, change) {
    signal.throwIfAborted();
    return storage.commit(scope, change);
  },
});

/** Removes old data, one kind after the other. The next round repeats a failed removal. */
export async function removeOldData(parts: Pick<ServiceParts, 'storage' | 'onError' | 'keepAudit'>): Promise<void> {
  const { storage, onError, keepAudit } = parts;
  const removals = [
    () => removeOldResults(storage),
    () => removeOldLeases(storage),
    () => removeOld(storage, { table: 'syncs', time: 'finished_at', keptForMs }),
    () => removeOldLockHistory(storage),
    async () => keepAudit && removeOld(storage, { table: 'audit', time: 'at', keptForMs: milliseconds(keepAudit) }),
    () => removeOld(storage, { table: 'sessions', time: 'expires_at', keptForMs: 0 }),
    // Until that time, the row prevents its JWT from being exchanged again.
    () => removeOld(storage, { table: 'tokens', time: 'forget_at', keptForMs: 0 }),
  ];
  for (const remove of removals) await remove().catch(onError);
}

/** As documented for the metric `workspace_tokens_expiring`. */
const expiringSoonMs = milliseconds({ seconds: 14 * 86_400 });

type Gauges = Pick<Metrics, 'locks' | 'lastSync' | 'lockWaiters' | 'expiringTokens'>;

/** Gauges of the database. Every instance measures them, with the same results. */
export function createDatabaseGauges({ read }: Pick<Storage, 'read'>, metrics: Gauges) {
  /** Counts the entries of the primary key, because a condition on `expires_at` would read every lock. */
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
      // Removes the series of removed workspaces, unless a client still waits in them.
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
