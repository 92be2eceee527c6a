import { expect, test } from 'vitest';
import { unlessAborted } from '../../src/interface/timers.ts';

test('returns the result of work that ends before the signal is aborted', async () => {
  const { signal } = new AbortController();
  await expect(unlessAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

test('stops waiting for work when the signal is aborted, and ignores its later result', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const work = Promise.withResolvers<number>();
  const waiting = unlessAborted(work.promise, signal);
  controller.abort(new Error('no time left'));
  await expect(waiting).rejects.toThrow('no time left');
  work.reject(new Error('broken'));
  await expect(unlessAborted(new Promise(() => undefined), signal)).rejects.toThrow('no time left');
});
