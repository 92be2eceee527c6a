import { type ListedObject, lastUsePrecisionMs, type ObjectStore } from './object-store.ts';
import type { Oid } from './oid.ts';
import { urlLifetimeSeconds } from './signed-url.ts';

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
