import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** A slice takes a fraction of a millisecond: other requests need several turns of the event loop, one per slice. */
const sliceLength = 200;

/** Like map(), but serves other requests between slices of thousands of items. */
export const mapInSlices = <Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<readonly Result[]> => inSlices(items, sliceLength, (slice) => slice.map(map));

/** Works on slices of a list, and returns all results. Other requests are served between slices. */
export async function inSlices<Item, Result>(
  items: readonly Item[],
  length: number,
  work: (slice: readonly Item[]) => readonly Result[] | Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += length) {
    if (start > 0) await yieldToEventLoop();
    for (const result of await work(items.slice(start, start + length))) results.push(result);
  }
  return results;
}
