import { expect, test, vi } from 'vitest';
import { steadyClock } from '../../src/client/time.ts';
import { cleanupLimits } from '../../src/locks/rollback.ts';

test('all cleanups of a cancelled step share 3.5 s, and those of other steps have their own', () => {
  vi.useFakeTimers();
  try {
    const cancelled = AbortSignal.abort();
    const first = cleanupLimits(steadyClock, 10_000, cancelled);
    vi.advanceTimersByTime(3_000);
    const second = cleanupLimits(steadyClock, 10_000, cancelled);
    const other = cleanupLimits(steadyClock, 10_000, AbortSignal.abort());
    vi.advanceTimersByTime(500);
    expect([first, second, other].map(({ signal }) => signal?.aborted)).toEqual([true, true, false]);
  } finally {
    vi.useRealTimers();
  }
});

test('the time of a cleanup is short only after a cancellation', () => {
  vi.useFakeTimers();
  try {
    const cancellation = new AbortController();
    const { signal } = cleanupLimits(steadyClock, 10_000, cancellation.signal);
    vi.advanceTimersByTime(9_000);
    expect(signal?.aborted).toBe(false);
    cancellation.abort();
    vi.advanceTimersByTime(3_500);
    expect(signal?.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
