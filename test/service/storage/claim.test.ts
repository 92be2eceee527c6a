import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepClaim } from '../../../src/service/storage/claim.ts';

const running = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a claim is renewed until stopped, and is not lost when the database does not answer', async () => {
  const renew = vi.fn().mockRejectedValueOnce(new Error('no connection')).mockResolvedValue(true);
  const { signal, end } = keepClaim(renew, 1_000, running);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(renew).toHaveBeenCalledTimes(3);
  end();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(renew).toHaveBeenCalledTimes(3);
  expect(signal.aborted).toBe(false);
});

test('a lost claim ends the work, and is not renewed again', async () => {
  const renew = vi.fn(async () => false);
  const { signal } = keepClaim(renew, 1_000, running);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(renew).toHaveBeenCalledTimes(1);
  expect(signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('a renewal that fails after the job has ended is not reported as a lost claim', async () => {
  const renewal = Promise.withResolvers<boolean>();
  const { signal, end } = keepClaim(() => renewal.promise, 1_000, running);
  await vi.advanceTimersByTimeAsync(1_000);
  end();
  renewal.resolve(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(signal.aborted).toBe(false);
});
