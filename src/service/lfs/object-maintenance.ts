import type { Logger } from 'pino';
import type { Git } from '../git/git.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { createOnce } from '../runtime/once.ts';
import type { Storage } from '../storage/storage.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { type FoundWorkspace, findWorkspace } from '../workspaces/workspaces.ts';
import { type ListedObject, lastUsePrecisionMs, type ObjectStore } from './object-store.ts';
import { type Oid, referencedObjects } from './pointer.ts';
import { urlLifetimeSeconds } from './signed-url.ts';

interface ObjectMaintenanceOptions {
  readonly storage: Storage;
  readonly git: Pick<Git, 'smallBlobs' | 'missingCommits'>;
  readonly objectsOf: (workspace: string) => ObjectStore;
  readonly metrics: Pick<Metrics, 'lfsObjects' | 'lfsBytes' | 'lfsOverLimit' | 'lfsEvicted'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Time limit for listing all objects of a branch. */
const timeoutMs = 10 * 60_000;

export type ObjectMaintenance = ReturnType<typeof createObjectMaintenance>;

/** Measures the stores, and removes objects from those that exceed their limit. */
export function createObjectMaintenance(parts: ObjectMaintenanceOptions) {
  const { storage, metrics, signal, onError } = parts;
  const limitRuns = limitParallel({ max: 1 });
  const once = createOnce<Eviction | undefined>();

  /** Reports a failure, which the next run retries. */
  const maintain = (workspace: string): Promise<Eviction | undefined> =>
    once(workspace, (onStart) =>
      limitRuns(workspace, async () => {
        onStart();
        return signal.aborted ? undefined : await evictFrom(parts, workspace);
      }).catch((error: unknown) => {
        if (!signal.aborted) onError(error);
        return undefined;
      }),
    );

  return {
    /** Starts maintenance of a workspace soon. Calls before it starts share one run. */
    schedule: (workspace: string): void => void maintain(workspace),
    async maintainAll(): Promise<void> {
      const total = { objects: 0, bytes: 0, overLimit: 0 };
      for (const { id } of await storage.read.selectFrom('workspaces').select('id').execute()) {
        const measured = await maintain(id);
        total.objects += measured?.usage.objects ?? 0;
        total.bytes += measured?.usage.bytes ?? 0;
        total.overLimit += measured?.isOverLimit ? 1 : 0;
      }
      metrics.lfsObjects.set(total.objects);
      metrics.lfsBytes.set(total.bytes);
      metrics.lfsOverLimit.set(total.overLimit);
    },
  };
}

async function evictFrom(parts: ObjectMaintenanceOptions, id: string): Promise<Eviction | undefined> {
  const { storage, objectsOf, metrics, log, signal, onError } = parts;
  const workspace = await findWorkspace(storage.read, id);
  if (workspace === undefined) return undefined;
  const { lfs_limit: limitBytes } = workspace;
  const now = Date.now();
  const rule = { limitBytes, neededObjects: () => neededObjects(parts, workspace), now, signal, onError };
  const eviction = await evict(objectsOf(id), rule);
  const { evicted, neededBytes, isOverLimit } = eviction;
  metrics.lfsEvicted.inc(evicted.objects);
  if (evicted.objects > 0) log.info({ workspace: id, ...evicted }, 'removed LFS objects to make room');
  if (isOverLimit) {
    const about = { workspace: id, limit_bytes: limitBytes, needed_bytes: neededBytes };
    log.warn(about, 'synced branches need more LFS storage than the limit: their objects were kept');
  }
  return eviction;
}

/** Objects that the heads of synced branches need. */
async function neededObjects(
  { storage, git, signal }: ObjectMaintenanceOptions,
  workspace: FoundWorkspace,
): Promise<ReadonlySet<Oid>> {
  const synced = await syncedBranches(storage, workspace.id);
  const heads = new Set([...synced.values()].map(({ head }) => head));
  // A head that this instance has not fetched yet, because another one ran its sync, needs none of its objects.
  const fetched = heads.difference(await git.missingCommits(workspace.id, heads));
  const needed = new Set<Oid>();
  for (const head of fetched) {
    const referenced = await referencedObjects(git, workspace.id, head, { timeoutMs, signal });
    for (const { oid } of referenced) needed.add(oid);
  }
  return needed;
}

interface EvictionRule {
  readonly limitBytes: number | null;
  /** Objects that the heads of synced branches need. Called only if not everything fits. */
  readonly neededObjects: () => Promise<ReadonlySet<Oid>>;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

type Eviction = Awaited<ReturnType<typeof evict>>;

/**
 * Objects used more recently stay: a client may have a valid URL for one, or a sync may have fetched it for a head that
 * it is about to record.
 */
export const minKeptAfterUseMs = urlLifetimeSeconds * 1_000 + lastUsePrecisionMs;

/**
 * Reduces a store to its limit: removes the least recently used objects first, but none that a head needs. An object that
 * cannot be removed stays, and others go instead.
 */
export async function evict(
  store: Pick<ObjectStore, 'list' | 'find' | 'remove'>,
  { limitBytes, neededObjects, now, signal, onError }: EvictionRule,
) {
  const objects: ListedObject[] = [];
  for await (const object of store.list()) {
    signal.throwIfAborted();
    objects.push(object);
  }
  const usage = usageOf(objects);
  const evicted = usageOf([]);
  const isTooMuch = () => limitBytes !== null && usage.bytes - evicted.bytes > limitBytes;
  const needed = isTooMuch() ? await neededObjects() : new Set<Oid>();
  const candidates = objects
    .filter(({ oid, lastUsedAt }) => !needed.has(oid) && lastUsedAt < now - minKeptAfterUseMs)
    .toSorted((one, other) => one.lastUsedAt - other.lastUsedAt);
  for (const { oid, size, lastUsedAt } of candidates) {
    if (!isTooMuch()) break;
    signal.throwIfAborted();
    try {
      const found = await store.find(oid);
      if (found !== undefined && found.lastUsedAt > lastUsedAt) continue;
      await store.remove(oid);
      evicted.objects += 1;
      evicted.bytes += size;
    } catch (error) {
      onError(error);
    }
  }
  const neededBytes = usageOf(objects.filter(({ oid }) => needed.has(oid))).bytes;
  return {
    /** After the eviction. */
    usage: { objects: usage.objects - evicted.objects, bytes: usage.bytes - evicted.bytes },
    evicted,
    /** For the heads of synced branches; 0 if everything fits. */
    neededBytes,
    isOverLimit: limitBytes !== null && neededBytes > limitBytes,
  };
}

const usageOf = (objects: readonly ListedObject[]) => ({
  objects: objects.length,
  bytes: objects.reduce((sum, { size }) => sum + size, 0),
});
