import type { PoolItem } from './resources.ts';

/** The item as it may appear in texts that others read. */
export function withoutSecrets<Item extends PoolItem>(item: Item): Item {
  const shown = Object.entries(item.properties).filter(([name]) => !item.secret.includes(name));
  return { ...item, properties: Object.fromEntries(shown) };
}
