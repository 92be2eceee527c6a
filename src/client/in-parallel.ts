/** The client has no more connections. */
const parallelRequests = 16;

/** Works through the items in order, several at a time, until `goOn` says no. */
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
