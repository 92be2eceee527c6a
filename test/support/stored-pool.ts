import { parsePoolItemWords } from '../../src/service/pools/pool-item.ts';
import { addPool } from '../../src/service/pools/pools.ts';
import type { Storage } from '../../src/service/storage/storage.ts';

const operator = { name: 'operator:root', tokenId: null, address: null };

/** Adds a pool, with items as in the command: paths, each perhaps with properties in the word after it. */
export async function storePool(
  { commit, now }: Pick<Storage, 'commit' | 'now'>,
  workspace: string,
  name: string,
  ...words: readonly string[]
): Promise<void> {
  const items = parsePoolItemWords(words);
  if (!items.ok) throw new Error(items.reason);
  const added = await commit({ workspace }, (db) =>
    addPool(db, now, operator, { workspace, name, items: items.value }),
  );
  if (!added.ok) throw new Error(added.reason);
}
