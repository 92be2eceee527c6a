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

/** The objects of a workspace on the disk of this instance, at the last measurement. */
interface MeasuredUsage extends Usage {
  /** For the heads of synced branches; null if everything fits. */
  readonly neededBytes: number | null;
  readonly limitBytes: number | null;
}

/** By workspace. */
export type LfsUsage = Map<string, MeasuredUsage>;

interface ObjectMaintenanceOptions {
  readonly storage: Storage;
  readonly git: Pick<Git, 'smallBlobs' | 'missingCommits'>;
  readonly objectsOf: (workspace: string) => ObjectStore;
  readonly lfsUsage: LfsUsage;
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
  const { storage, objectsOf, lfsUsage, metrics, signal, onError } = parts;
  const limitRuns = limitParallel({ max: 1 });
  const once = createOnce<void>();

  async function maintain(id: string): Promise<void> {
    const workspace = await findWorkspace(storage.read, id);
    if (workspace === undefined) return;
    const store = objectsOf(id);
    const { lfs_limit: limitBytes } = workspace;
    const { usage, evicted, neededBytes } = await evict(store, {
      limitBytes,
      neededObjects: () => neededObjects(parts, workspace),
      now: Date.now(),
      signal,
    });
    const measured = { ...usage, neededBytes, limitBytes };
    lfsUsage.set(id, measured);
    report(parts, id, evicted, measured);
  }

  /** Reports a failure, which the next run retries. */
  const unlessStopping = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });

  const maintainOnce = (workspace: string): Promise<void> =>
    once(workspace, (onStart) =>
      unlessStopping(
        limitRuns(workspace, async () => {
          onStart();
          if (!signal.aborted) await maintain(workspace);
        }),
      ),
    );

  async function maintainEach(): Promise<void> {
    const ids = (await storage.read.selectFrom('workspaces').select('id').execute()).map(({ id }) => id);
    for (const removed of new Set(lfsUsage.keys()).difference(new Set(ids))) lfsUsage.delete(removed);
    for (const id of ids) await maintainOnce(id);
    const all = [...lfsUsage.values()];
    metrics.lfsObjects.set(all.reduce((sum, { objects }) => sum + objects, 0));
    metrics.lfsBytes.set(all.reduce((sum, { bytes }) => sum + bytes, 0));
    metrics.lfsOverLimit.set(all.filter(isOverLimit).length);
  }

  return {
    /** Starts maintenance of a workspace soon. Calls before it starts share one run. */
    schedule: (workspace: string): void => void maintainOnce(workspace),
    maintainAll: () => unlessStopping(maintainEach()),
  };
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
    const referenced = await referencedObjects(git, workspace.id, { commit: head, of: 'head' }, { timeoutMs, signal });
    for (const { oid } of referenced) needed.add(oid);
  }
  return needed;
}

function report(
  { metrics, log }: ObjectMaintenanceOptions,
  workspace: string,
  evicted: Usage,
  measured: MeasuredUsage,
): void {
  metrics.lfsEvicted.inc(evicted.objects);
  if (evicted.objects > 0) log.info({ workspace, ...evicted }, 'removed LFS objects to make room');
  if (!isOverLimit(measured)) return;
  const about = { workspace, limit_bytes: measured.limitBytes, needed_bytes: measured.neededBytes };
  log.warn(about, 'synced branches need more LFS storage than the limit: their objects were kept');
}

/** Number of bytes that still fit within the limit of a workspace, as of the last measurement. */
export async function remainingBytes(
  { read }: Pick<Storage, 'read'>,
  usage: LfsUsage,
  workspace: string,
): Promise<number> {
  const row = await read.selectFrom('workspaces').select('lfs_limit').where('id', '=', workspace).executeTakeFirst();
  return (row?.lfs_limit ?? Number.POSITIVE_INFINITY) - (usage.get(workspace)?.bytes ?? 0);
}

/** Whether the heads alone need more than the limit, so that eviction cannot reach it. */
const isOverLimit = ({ neededBytes, limitBytes }: MeasuredUsage): boolean =>
  neededBytes !== null && limitBytes !== null && neededBytes > limitBytes;

export interface Usage {
  readonly objects: number;
  readonly bytes: number;
}

interface EvictionRule {
  readonly limitBytes: number | null;
  /** Objects that the heads of synced branches need. Called only if not everything fits. */
  readonly neededObjects: () => Promise<ReadonlySet<Oid>>;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Objects used more recently stay: a client may have a valid URL for one, or a sync may have fetched it for a head that
 * it is about to record.
 */
export const minKeptAfterUseMs = urlLifetimeSeconds * 1_000 + lastUsePrecisionMs;

/**
 * Reduces a store to its limit: removes the least recently used objects first, but none that a head needs. Instances
 * that share the folder may do this at the same time: objects that another instance has removed count as removed.
 */
export async function evict(
  store: Pick<ObjectStore, 'list' | 'find' | 'remove'>,
  { limitBytes, neededObjects, now, signal }: EvictionRule,
) {
  const objects: ListedObject[] = [];
  for await (const object of store.list()) {
    signal.throwIfAborted();
    objects.push(object);
  }
  const before = usageOf(objects);
  if (limitBytes === null || before.bytes <= limitBytes) {
    return { usage: before, evicted: usageOf([]), neededBytes: null };
  }
  const needed = await neededObjects();
  const candidates = objects
    .filter(({ oid, lastUsedAt }) => !needed.has(oid) && lastUsedAt < now - minKeptAfterUseMs)
    .toSorted((one, other) => one.lastUsedAt - other.lastUsedAt);
  const evicted = { objects: 0, bytes: 0 };
  for (const { oid, size, lastUsedAt } of candidates) {
    if (before.bytes - evicted.bytes <= limitBytes) break;
    signal.throwIfAborted();
    const found = await store.find(oid);
    if (found !== undefined && found.lastUsedAt > lastUsedAt) continue;
    await store.remove(oid);
    evicted.objects += 1;
    evicted.bytes += size;
  }
  return {
    /** After the eviction. */
    usage: { objects: before.objects - evicted.objects, bytes: before.bytes - evicted.bytes },
    evicted,
    /** For the heads of synced branches. Null if not computed because everything fits. */
    neededBytes: usageOf(objects.filter(({ oid }) => needed.has(oid))).bytes,
  };
}

const usageOf = (objects: readonly ListedObject[]): Usage => ({
  objects: objects.length,
  bytes: objects.reduce((sum, { size }) => sum + size, 0),
});
