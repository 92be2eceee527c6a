import { milliseconds } from '../../interface/duration.ts';
import { withFreeDisk } from '../git/git-command.ts';
import { GitError } from '../git/git-error.ts';
import type { Instance } from '../instance/instance.ts';
import { startWorker, type WorkerOptions } from '../runtime/worker.ts';
import { endClaim, keepClaim } from '../storage/claim.ts';
import type { Database } from '../storage/storage.ts';
import { remoteOf } from '../workspaces/remotes.ts';
import {
  type ClaimedSync,
  claimSync,
  countsOf,
  maxSyncAttempts,
  recordSync,
  renewClaim,
  type SyncEnd,
  type SyncProgress,
} from './queue.ts';
import type { FetchObjects } from './wanted-objects.ts';

/**
 * Frequent, because renewals also store the progress; a claim lasts many times longer. More of them would slow down the
 * sync, because each flushes the disk, and with it much of what the sync has just received.
 */
const renewEveryMs = 3_000;

interface SyncRunParts extends Omit<Instance, 'dataFolder' | 'targets'> {
  readonly fetchObjects: FetchObjects;
}

type SyncWorkerOptions = SyncRunParts & Pick<WorkerOptions<unknown>, 'onError'>;

const pauseMs = (): number => Math.round(5_000 + Math.random() * 55_000);

const parallelSyncs = 4;

/** Leaves slots for other workspaces if a remote does not respond. */
const maxOfWorkspace = 2;

/** Runs queued syncs, which all instances share. Claims none while disk space is low. */
export function startSyncs({ onError, ...parts }: SyncWorkerOptions) {
  const running = new Map<string, number>();
  const count = (workspace: string, change: 1 | -1): void =>
    void running.set(workspace, (running.get(workspace) ?? 0) + change);
  const worker = startWorker<ClaimedSync>({
    parallel: parallelSyncs,
    onError,
    async claim() {
      if (parts.freeDisk.isLow()) return undefined;
      const except = [...running].flatMap(([workspace, syncs]) => (syncs >= maxOfWorkspace ? [workspace] : []));
      const sync = await claimSync(parts.storage, except);
      if (sync !== undefined) count(sync.workspace, 1);
      return sync;
    },
    run: (sync, stopping) => runSync(parts, sync, stopping).finally(() => count(sync.workspace, -1)),
  });
  parts.storage.onQueued('syncs', worker.wake);
  return worker;
}

/** Runs a claimed sync. If the service stops, the claim is lost or the disk is full, the sync is claimed again later. */
export async function runSync(parts: SyncRunParts, sync: ClaimedSync, stopping: AbortSignal): Promise<void> {
  const { storage, metrics, log } = parts;
  let progress: SyncProgress = {};
  const claim = keepClaim(() => renewClaim(storage, sync, progress), renewEveryMs, stopping);
  const about = { sync: sync.id, workspace: sync.workspace, branch: sync.branch };
  const reportLost = (): void => log.warn(about, 'sync taken over by another instance, or workspace removed');
  metrics.syncsRunning.inc();
  try {
    const end = await fetchBranchAndObjects(parts, sync, claim.signal, (now) => {
      progress = now;
    });
    claim.end();
    const record = (db: Database) => recordSync(db, sync, end);
    if (!(await storage.commit({ workspace: sync.workspace }, record))) return reportLost();
    metrics.syncs.inc({ status: end.kind });
    if (end.kind === 'failed') log.warn({ ...about, error: end.error }, 'sync failed');
    else log.info({ ...about, head: end.head, received_objects: end.receivedObjects, lfs: end.lfs }, 'sync succeeded');
  } catch (error) {
    // The claim counted an attempt, which the stopping service has interrupted.
    if (stopping.aborted) return await endClaim(storage, 'syncs', sync, { counted: 1 });
    if (claim.signal.aborted) return reportLost();
    if (!(error instanceof GitError) || error.kind !== 'disk-full') throw error;
    // Another sync may have filled the disk. The attempt counts, so that a branch that is too large does not do so
    // forever, and the pause is random, so that the others mostly run without it.
    log.warn({ ...about, error: error.message }, 'sync interrupted until there is disk space');
    await endClaim(storage, 'syncs', sync, { counted: 0, pauseMs: pauseMs() });
  } finally {
    claim.end();
    metrics.syncsRunning.dec();
  }
}

async function fetchBranchAndObjects(
  { git, freeDisk, fetchObjects, allowFileRemotes, syncTimeout }: SyncRunParts,
  sync: ClaimedSync,
  signal: AbortSignal,
  onProgress: (progress: SyncProgress) => void,
): Promise<SyncEnd> {
  const { workspace, branch, lfs: settings, exhausted } = sync;
  try {
    if (exhausted) {
      const reason = `The sync did not finish in ${maxSyncAttempts} attempts. The log of the service has the reasons, such as a full disk.`;
      throw new GitError('failed', reason);
    }
    const remote = remoteOf(sync, allowFileRemotes);
    const limits = { timeoutMs: milliseconds(syncTimeout), signal };
    const { head, receivedObjects } = await withFreeDisk(freeDisk, limits, (limits) =>
      git.fetch(workspace, remote, branch, limits, (objects) => onProgress({ received_objects: objects })),
    );
    const wanted = { workspace, branch, head, remote, settings };
    const lfs = await fetchObjects(wanted, limits, (objects) => onProgress(countsOf(receivedObjects, objects)));
    return { kind: 'succeeded', head, receivedObjects, lfs };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GitError && error.kind !== 'disk-full') return { kind: 'failed', error: error.message };
    throw error;
  }
}
