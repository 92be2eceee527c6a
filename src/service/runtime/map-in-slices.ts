import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Takes a fraction of a millisecond: another request takes several turns of the event loop. */
const sliceLength = 200;

/** Like map(). Between slices of thousands of items, other requests are served. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += sliceLength) {
    if (start > 0) await yieldToEventLoop();
    for (const item of items.slice(start, start + sliceLength)) results.push(map(item));
  }
  return results;
}
