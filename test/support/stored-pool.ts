import { parsePoolItemWords } from '../../src/service/pools/pool-item.ts';
import { addPool, type StorePool, updatePool } from '../../src/service/pools/pools.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { operator } from './operator.ts';

type Commits = Pick<Storage, 'commit' | 'now'>;

/** Items are words, as in the command: paths, each perhaps with properties in the word after it. */
export const storePool = (storage: Commits, workspace: string, name: string, ...words: readonly string[]) =>
  storeItems(storage, addPool, { workspace, name, words });

export const updateStoredPool = (storage: Commits, change: Change) => storeItems(storage, updatePool, change);

interface Change {
  readonly workspace: string;
  readonly name: string;
  readonly words: readonly string[];
  readonly removed?: readonly string[];
}

async function storeItems({ commit, now }: Commits, store: StorePool, { words, ...change }: Change): Promise<void> {
  const items = parsePoolItemWords(words);
  if (!items.ok) throw new Error(items.reason);
  const stored = await commit({ workspace: change.workspace }, (db) =>
    store(db, now, operator, { ...change, items: items.value }),
  );
  if (!stored.ok) throw new Error(stored.reason);
}
