import { maxConnections } from './connection.ts';

/** Processes the items in order, as many in parallel as there are connections, until `shouldContinue` returns false. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const item = items[next];
      if (item === undefined || !shouldContinue()) return;
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConnections, items.length) }, worker));
}
