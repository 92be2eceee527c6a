import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createSemaphore, inParallel } from '../../src/client/in-parallel.ts';

test('an error ends the work when the running items have ended, and no others start', async () => {
  const { promise: failing, reject } = Promise.withResolvers<void>();
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  const begun: number[] = [];
  const ended: number[] = [];
  const all = inParallel(
    Array.from({ length: 100 }, (_, index) => index),
    async (index) => {
      begun.push(index);
      await (index === 0 ? failing : slow);
      ended.push(index);
    },
  );
  const outcome = all.then(
    () => 'done',
    (error: Error) => `${error.message} after ${ended.length} others`,
  );
  const atOnce = begun.length;
  reject(new Error('failed'));
  await expect(failing).rejects.toThrow('failed');
  resolve();
  expect(await outcome).toBe(`failed after ${atOnce - 1} others`);
  expect(begun).toHaveLength(atOnce);
});

test('the results have the order of the items', async () => {
  const pauses = [30, 1, 10];
  const late = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms, ms));
  expect(await inParallel(pauses, late)).toEqual(pauses);
});

test('a wait for a slot leaves no listener on the signal', async () => {
  const enter = createSemaphore(1);
  const { signal } = new AbortController();
  const release = await enter(signal);
  const waiting = enter(signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  release?.();
  (await waiting)?.();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
