import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { objectsSetUp, oidOf } from './set-up.ts';

test('leaves nothing in memory that follows the signal of the process', async () => {
  const { store, point, fetch, objects } = await objectsSetUp();
  const name = store.put('an object');
  point({ 'a.uasset': name });
  const { signal } = new AbortController();
  const ports: number[] = [];
  for (let syncs = 0; syncs < 4; syncs += 1) {
    expect(await fetch({ signal })).toMatchObject({ received: { objects: 1 } });
    await objects.remove(oidOf(name));
    // Collects garbage before it counts.
    ports.push(queryObjects(MessagePort, { format: 'count' }));
  }
  expect(ports.at(-1)).toBe(ports[0]);
});
