import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepLease } from '../../../src/service/runtime/lease.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a lease is renewed until it is told to stop, and a database that does not answer has not taken it away', async () => {
  const renew = vi.fn().mockRejectedValueOnce(new Error('no connection')).mockResolvedValue(true);
  const lost = vi.fn();
  const stop = keepLease(renew, 1_000, lost);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(renew).toHaveBeenCalledTimes(3);
  stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(renew).toHaveBeenCalledTimes(3);
  expect(lost).not.toHaveBeenCalled();
});

test('a lost lease is told of once, and not renewed again', async () => {
  const renew = vi.fn(async () => false);
  const lost = vi.fn();
  keepLease(renew, 1_000, lost);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(renew).toHaveBeenCalledTimes(1);
  expect(lost).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('what a renewal finds after the job has ended is no loss', async () => {
  const renewal = Promise.withResolvers<boolean>();
  const lost = vi.fn();
  const stop = keepLease(() => renewal.promise, 1_000, lost);
  await vi.advanceTimersByTimeAsync(1_000);
  stop();
  renewal.resolve(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lost).not.toHaveBeenCalled();
});
