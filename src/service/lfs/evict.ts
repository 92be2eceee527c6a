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
  /** Further objects are left to the next run. */
  readonly maxEvicted?: number;
}

const defaultMaxEvicted = 10_000;

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
  { limitBytes, neededObjects, now, signal, maxEvicted = defaultMaxEvicted }: EvictionRule,
) {
  const none = { objects: 0, bytes: 0 };
  const before = await measure(store, () => signal.throwIfAborted());
  if (limitBytes === null || before.bytes <= limitBytes) {
    return { usage: before, evicted: none, neededBytes: null };
  }

  const needed = await neededObjects();
  let neededBytes = 0;
  const candidates = leastRecentlyUsed(maxEvicted);
  const usage = await measure(store, (object) => {
    signal.throwIfAborted();
    if (needed.has(object.oid)) neededBytes += object.size;
    else if (object.lastUsedAt < now - minKeptAfterUseMs) candidates.add(object);
  });

  const evicted = { ...none };
  for (const { oid, size, lastUsedAt } of candidates.inOrder()) {
    if (usage.bytes - evicted.bytes <= limitBytes) break;
    signal.throwIfAborted();
    const found = await store.find(oid);
    if (found !== undefined && (found.lastUsedAt > lastUsedAt || !(await isRemoved(store, oid)))) continue;
    evicted.objects += 1;
    evicted.bytes += size;
  }
  return {
    /** After the eviction. */
    usage: { objects: usage.objects - evicted.objects, bytes: usage.bytes - evicted.bytes },
    evicted,
    /** For the heads of synced branches. Null if not computed because everything fits. */
    neededBytes,
  };
}

/** Collects the `max` least recently used objects of all that are added, in bounded memory. */
function leastRecentlyUsed(max: number) {
  let kept: ListedObject[] = [];
  const inOrder = (): readonly ListedObject[] => {
    kept = kept.toSorted((one, other) => one.lastUsedAt - other.lastUsedAt).slice(0, max);
    return kept;
  };
  return {
    add(object: ListedObject) {
      kept.push(object);
      if (kept.length >= 2 * max) inOrder();
    },
    inOrder,
  };
}

async function measure(store: Pick<ObjectStore, 'list'>, onObject: (object: ListedObject) => void): Promise<Usage> {
  let [objects, bytes] = [0, 0];
  for await (const object of store.list()) {
    objects += 1;
    bytes += object.size;
    onObject(object);
  }
  return { objects, bytes };
}

/** False if the object cannot be removed: Windows does not remove a file that is being read. */
const isRemoved = (store: Pick<ObjectStore, 'remove'>, oid: Oid): Promise<boolean> =>
  store.remove(oid).then(
    () => true,
    () => false,
  );
