import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeat } from '../../../src/service/runtime/repeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('it does the work at each interval, after errors too', async () => {
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

test('it does the work at once where that is asked for, and then at each interval', async () => {
  const work = vi.fn().mockResolvedValue(undefined);
  const stop = repeat(1_000, work, vi.fn(), { atOnce: true });
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(2);
  await stop();
});

test('work that takes longer than the interval is not begun a second time', async () => {
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

test('a stop waits for the work that is under way, and lets nothing follow', async () => {
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
