import type { Database, Storage } from './storage.ts';

interface Waiting<Key, Result> {
  readonly key: Key;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * For data that almost every request needs: requests that arrive together share one query. It starts after the last of
 * them has arrived, so all of them get current data.
 */
export function coalesceReads<Key, Result>(
  query: (db: Database, keys: readonly Key[]) => Promise<readonly Result[]>,
): (db: Database, key: Key) => Promise<Result> {
  const arrived = new WeakMap<Database, Waiting<Key, Result>[]>();

  async function queryAll(db: Database): Promise<void> {
    const waiting = arrived.get(db) ?? [];
    arrived.delete(db);
    try {
      // Requests with the same token, or for the same path, have equal keys, which are queried once.
      const byKey = [...Map.groupBy(waiting, ({ key }) => JSON.stringify(key)).values()];
      const keys = byKey.flatMap(([first]) => (first === undefined ? [] : [first.key]));
      const results = await query(db, keys);
      for (const [index, result] of results.entries()) {
        for (const { resolve } of byKey[index] ?? []) resolve(result);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (db, key) =>
    new Promise((resolve, reject) => {
      const one = { key, resolve, reject };
      const others = arrived.get(db);
      if (others !== undefined) {
        others.push(one);
        return;
      }
      arrived.set(db, [one]);
      setImmediate(queryAll, db);
    });
}

/** More rows than are in use at the same time. */
const maxRemembered = 1_000;

/** Like coalesceReads(), for tokens and workspaces. Remembers the rows it found until any of them may have changed. */
export function rememberReads<Row>(
  query: (db: Database, keys: readonly string[]) => Promise<readonly (Row | undefined)[]>,
): (storage: Pick<Storage, 'read' | 'accessVersion'>, key: string) => Promise<Row | undefined> {
  const read = coalesceReads(query);
  const remembered = new WeakMap<Database, { readonly version: unknown; readonly rows: Map<string, Row> }>();

  return async (storage, key) => {
    // Read before the query, so that remembered rows are never older than their version.
    const version = storage.accessVersion?.();
    if (version === undefined) return read(storage.read, key);
    const known = remembered.get(storage.read);
    const rows = known?.version === version && known.rows.size < maxRemembered ? known.rows : new Map<string, Row>();
    if (rows !== known?.rows) remembered.set(storage.read, { version, rows });
    const row = rows.get(key) ?? (await read(storage.read, key));
    if (row !== undefined) rows.set(key, row);
    return row;
  };
}
