import type { Database, Now, Storage } from './storage.ts';

interface Waiting<Key, Result> {
  readonly key: Key;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * For data that almost every request needs: requests that arrive at the same time share one query. It runs after all of
 * them have arrived, so each gets current data. Nothing is cached.
 */
export function coalesceReads<Key, Result>(
  query: (db: Database, now: Now, keys: readonly Key[]) => Promise<readonly Result[]>,
): (storage: Pick<Storage, 'read' | 'now'>, key: Key) => Promise<Result> {
  const arrived = new WeakMap<Database, Waiting<Key, Result>[]>();

  async function queryAll({ read, now }: Pick<Storage, 'read' | 'now'>): Promise<void> {
    const waiting = arrived.get(read) ?? [];
    arrived.delete(read);
    try {
      // Without duplicates: requests with the same token have the same key.
      const byKey = [...Map.groupBy(waiting, ({ key }) => key)];
      const results = await query(
        read,
        now,
        byKey.map(([key]) => key),
      );
      for (const [index, result] of results.entries()) {
        for (const { resolve } of byKey[index]?.[1] ?? []) resolve(result);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (storage, key) =>
    new Promise((resolve, reject) => {
      const one = { key, resolve, reject };
      const others = arrived.get(storage.read);
      if (others !== undefined) {
        others.push(one);
        return;
      }
      arrived.set(storage.read, [one]);
      setImmediate(queryAll, storage);
    });
}
