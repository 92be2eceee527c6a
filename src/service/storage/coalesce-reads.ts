import type { Database, Storage } from './storage.ts';

interface Waiting<Key, Result> {
  readonly key: Key;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * For data that almost every request needs: requests that arrive at the same time share one query. It runs after all of
 * them have arrived, so each gets current data.
 */
export function coalesceReads<Key, Result>(
  query: (db: Database, keys: readonly Key[]) => Promise<readonly Result[]>,
): (db: Database, key: Key) => Promise<Result> {
  const arrived = new WeakMap<Database, Waiting<Key, Result>[]>();

  async function queryAll(db: Database): Promise<void> {
    const waiting = arrived.get(db) ?? [];
    arrived.delete(db);
    try {
      // Without duplicates: requests with the same token have the same key, and those for a path an equal one.
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

/** More than are in use at the same time. */
const maxRemembered = 1_000;

/** Like coalesceReads(), for tokens and workspaces: those that were found are remembered until any may have changed. */
export function rememberReads<Row>(
  query: (db: Database, keys: readonly string[]) => Promise<readonly (Row | undefined)[]>,
): (storage: Pick<Storage, 'read' | 'accessVersion'>, key: string) => Promise<Row | undefined> {
  const read = coalesceReads(query);
  const remembered = new WeakMap<Database, { readonly version: unknown; readonly rows: Map<string, Row> }>();

  return async (storage, key) => {
    // Before the query: what it finds is at least as new.
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
