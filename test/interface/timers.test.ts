import { expect, test } from 'vitest';
import { unlessAborted } from '../../src/interface/timers.ts';

test('work that is done before the signal is aborted gives what it ends with', async () => {
  const { signal } = new AbortController();
  await expect(unlessAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

test('work is no longer waited for once the signal is aborted, and how it ends then is ignored', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const work = Promise.withResolvers<number>();
  const waiting = unlessAborted(work.promise, signal);
  controller.abort(new Error('no time left'));
  await expect(waiting).rejects.toThrow('no time left');
  work.reject(new Error('broken'));
  await expect(unlessAborted(new Promise(() => undefined), signal)).rejects.toThrow('no time left');
});
