import { expect, test } from 'vitest';
import { unlessAborted } from '../../src/interface/timers.ts';

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
