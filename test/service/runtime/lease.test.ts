import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepLease } from '../../../src/service/runtime/lease.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a lease is renewed until stopped, and is not lost when the database does not answer', async () => {
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

test('a lost lease is reported once, and not renewed again', async () => {
  const renew = vi.fn(async () => false);
  const lost = vi.fn();
  keepLease(renew, 1_000, lost);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(renew).toHaveBeenCalledTimes(1);
  expect(lost).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a renewal that fails after the job has ended is not reported as a lost lease', async () => {
  const renewal = Promise.withResolvers<boolean>();
  const lost = vi.fn();
  const stop = keepLease(() => renewal.promise, 1_000, lost);
  await vi.advanceTimersByTimeAsync(1_000);
  stop();
  renewal.resolve(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lost).not.toHaveBeenCalled();
});
