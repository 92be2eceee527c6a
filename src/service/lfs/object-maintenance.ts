import type { Logger } from 'pino';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { createOnce } from '../runtime/once.ts';
import type { Storage } from '../storage/storage.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { type FoundWorkspace, findWorkspace } from '../workspaces/workspaces.ts';
import { type Eviction, evict } from './evict.ts';
import type { ObjectStore } from './object-store.ts';
import type { Oid } from './oid.ts';
import { isOverLimit, recordUsage, totalUsage } from './usage.ts';

export interface ObjectMaintenanceOptions {
  readonly storage: Storage;
  readonly objectsOf: (workspace: string) => ObjectStore;
  /** Returns the objects that a commit of the mirror needs. */
  readonly objectsAt: (workspace: string, commit: string, signal: AbortSignal) => Promise<Iterable<Oid>>;
  /** Returns the branches of the remote; undefined if it does not answer. */
  readonly remoteBranches: (workspace: FoundWorkspace) => Promise<Iterable<string> | undefined>;
  readonly metrics: Pick<Metrics, 'lfsObjects' | 'lfsBytes' | 'lfsOverLimit' | 'lfsEvicted'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

export type ObjectMaintenance = ReturnType<typeof createObjectMaintenance>;

/** Measures the stores, and removes objects from those that exceed their limit. */
export function createObjectMaintenance(parts: ObjectMaintenanceOptions) {
  const { storage, objectsOf, objectsAt, remoteBranches, metrics, log, signal, onError } = parts;
  const limitLooks = limitParallel({ max: 1 });
  const once = createOnce<void>();

  /** Objects that the heads of synced branches need. A branch that was deleted on the remote needs none. */
  async function neededObjects(workspace: FoundWorkspace): Promise<ReadonlySet<Oid>> {
    const synced = await syncedBranches(storage, workspace.id);
    const existing = new Set((await remoteBranches(workspace)) ?? synced.keys());
    const heads = new Set([...synced].filter(([name]) => existing.has(name)).map(([, { head }]) => head));
    const needed = new Set<Oid>();
    for (const head of heads) {
      for (const oid of await objectsAt(workspace.id, head, signal)) needed.add(oid);
    }
    return needed;
  }

  function report(workspace: string, limitBytes: number | null, { evicted, neededBytes }: Eviction): void {
    metrics.lfsEvicted.inc(evicted.objects);
    if (evicted.objects > 0) log.info({ workspace, ...evicted }, 'removed LFS objects to make room');
    if (isOverLimit(neededBytes, limitBytes)) {
      log.warn(
        { workspace, limit_bytes: limitBytes, needed_bytes: neededBytes },
        'synced branches need more LFS storage than the limit: their objects were kept',
      );
    }
  }

  async function look(id: string): Promise<void> {
    const workspace = await findWorkspace(storage.read, id);
    if (workspace === undefined) return;
    const store = objectsOf(id);
    await store.removeOldPartials();
    const { lfs_limit: limitBytes } = workspace;
    const eviction = await evict(store, {
      limitBytes,
      neededObjects: () => neededObjects(workspace),
      now: Date.now(),
      signal,
    });
    report(id, limitBytes, eviction);
    await recordUsage(storage, id, eviction);
  }

  /** Reports a failure, which the next run retries. */
  const unlessStopping = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });

  const lookOnce = (workspace: string): Promise<void> =>
    once(workspace, (begun) =>
      unlessStopping(
        limitLooks(workspace, async () => {
          begun();
          if (!signal.aborted) await look(workspace);
        }),
      ),
    );

  async function lookAtEach(): Promise<void> {
    for (const { id } of await storage.read.selectFrom('workspaces').select('id').execute()) await lookOnce(id);
    const { objects, bytes, overLimit } = await totalUsage(storage);
    metrics.lfsObjects.set(objects);
    metrics.lfsBytes.set(bytes);
    metrics.lfsOverLimit.set(overLimit);
  }

  return {
    /** Starts maintenance of a workspace soon. Calls before it starts share one run. */
    lookSoon: (workspace: string): void => void lookOnce(workspace),
    lookAtAll: () => unlessStopping(lookAtEach()),
  };
}
