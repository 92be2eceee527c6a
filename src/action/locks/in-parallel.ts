/** As many requests as the client has connections: more would only wait. */
export const parallelRequests = 16;

/** Works through the items in their order, several at a time; `goOn` is asked before each, and false ends it early. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  goOn: () => boolean = () => true,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const item = items[next];
      if (item === undefined || !goOn()) return;
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelRequests, items.length) }, worker));
}
