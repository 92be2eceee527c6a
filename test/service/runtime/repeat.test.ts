import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeat } from '../../../src/service/runtime/repeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('repeats the work at each interval, also after errors', async () => {
  const failure = new Error('This had to fail.');
  const work = vi.fn().mockRejectedValueOnce(failure).mockResolvedValue(undefined);
  const onError = vi.fn();
  const stop = repeat(1_000, work, onError);
  await vi.advanceTimersByTimeAsync(999);
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_001);
  expect(work).toHaveBeenCalledTimes(3);
  expect(onError.mock.calls).toEqual([[failure]]);
  await stop();
});

test('does not start the work again while it takes longer than the interval', async () => {
  const first = Promise.withResolvers<void>();
  const work = vi.fn().mockReturnValueOnce(first.promise).mockResolvedValue(undefined);
  const stop = repeat(1_000, work, vi.fn());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(1);
  first.resolve();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(2);
  await stop();
});

test('stopping waits for the running work, and prevents any further run', async () => {
  const first = Promise.withResolvers<void>();
  const work = vi.fn(() => first.promise);
  const stop = repeat(1_000, work, vi.fn());
  await vi.advanceTimersByTimeAsync(1_000);
  const stopped = vi.fn();
  const stopping = stop().then(stopped);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(stopped).not.toHaveBeenCalled();
  first.resolve();
  await stopping;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(1);
});
