import { once } from 'node:events';
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

test('ends a download that stalls after a burst as soon as nothing has arrived for the idle time', async () => {
  const { store, point, fetch } = await objectsSetUp();
  const content = Buffer.alloc(200_000, 'content');
  point({ 'a.uasset': store.put(content) });
  const idleMs = 4_000;
  let silentMs = 0;
  store.behaviour.download = () => {
    store.behaviour.download = undefined;
    return async (response) => {
      response.writeHead(200, { 'content-length': content.length });
      response.write(content.subarray(0, 100_000));
      const began = performance.now();
      await once(response, 'close');
      silentMs = performance.now() - began;
    };
  };
  expect(await fetch({ idleMs })).toMatchObject({ received: { objects: 1 } });
  expect(silentMs).toBeGreaterThan(idleMs * 0.9);
  expect(silentMs).toBeLessThan(idleMs * 1.5);
});
