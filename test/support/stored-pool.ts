import { parsePoolItems } from '../../src/service/pools/pool-item.ts';
import { storePool as storeNew } from '../../src/service/pools/pools.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { operator } from './operator.ts';

type Commits = Pick<Storage, 'commit'>;

/** Items are words: paths, each perhaps with properties in the word after it, such as `host=b1,secret:serial=A`. */
export const storePool = (storage: Commits, workspace: string, name: string, ...words: readonly string[]) =>
  storeItems(storage, 'pool.added', { workspace, name, items: itemsOf(words) });

export const updateStoredPool = (storage: Commits, workspace: string, name: string, ...words: readonly string[]) =>
  storeItems(storage, 'pool.updated', { workspace, name, items: itemsOf(words) });

/** Items as in a file. */
export const storePoolFile = (storage: Commits, workspace: string, name: string, items: string) =>
  storeItems(storage, 'pool.added', { workspace, name, items });

function itemsOf(words: readonly string[]): string {
  const items: { path: string; properties: Record<string, string>; secret: string[] }[] = [];
  for (const word of words) {
    const last = items.at(-1);
    if (word.startsWith('./') || !word.includes('=') || last === undefined) {
      items.push({ path: word, properties: {}, secret: [] });
      continue;
    }
    for (const pair of word.split(',')) {
      const [, secret, name = '', value = ''] = /^(secret:)?([^=]*)=(.*)$/s.exec(pair) ?? [];
      last.properties[name] = value;
      if (secret !== undefined) last.secret.push(name);
    }
  }
  return JSON.stringify(items);
}

interface Change {
  readonly workspace: string;
  readonly name: string;
  readonly items: string;
}

async function storeItems(
  { commit }: Commits,
  action: 'pool.added' | 'pool.updated',
  { items, ...pool }: Change,
): Promise<void> {
  const parsed = parsePoolItems(items);
  if (!parsed.ok) throw new Error(parsed.reason);
  const stored = await commit({ workspace: pool.workspace }, (db) =>
    storeNew(db, operator, action, { ...pool, items: parsed.value }),
  );
  if (!stored.ok) throw new Error(stored.reason);
}
