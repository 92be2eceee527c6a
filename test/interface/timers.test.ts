import { expect, test } from 'vitest';
import { unlessAborted, withinMs } from '../../src/interface/timers.ts';

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

test('returns the fallback if work takes too long, and ignores its later error', async () => {
  const work = Promise.withResolvers<number>();
  await expect(withinMs(work.promise, 1, 'late')).resolves.toBe('late');
  work.reject(new Error('broken'));
  await expect(withinMs(Promise.reject(new Error('broken')), 60_000, 'late')).rejects.toThrow('broken');
  await expect(withinMs(Promise.resolve(1), 60_000, 'late')).resolves.toBe(1);
});
