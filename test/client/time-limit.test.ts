import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type StartTimer, sleep, startTimeLimit } from '../../src/client/time-limit.ts';

describe('a time limit', () => {
  /** A timer that goes off when the test says so. */
  function handTimer() {
    let work: (() => void) | undefined;
    const start: StartTimer = (_, its) => {
      work = its;
      return () => {
        work = undefined;
      };
    };
    return { start, goOff: () => work?.() };
  }

  test('aborts its signal when the time is over', () => {
    const timer = handTimer();
    const limit = startTimeLimit(1_000, [new AbortController().signal], timer.start);
    expect(limit.signal.aborted).toBe(false);
    timer.goOff();
    expect(limit.signal.aborted).toBe(true);
    expect(limit.isOver()).toBe(true);
  });

  test('ends with an outer signal, and then its time is not over, whatever comes later', () => {
    const timer = handTimer();
    const outer = new AbortController();
    const limit = startTimeLimit(1_000, [new AbortController().signal, outer.signal], timer.start);
    outer.abort();
    expect(limit.signal.aborted).toBe(true);
    timer.goOff();
    expect(limit.isOver()).toBe(false);
  });

  test('whose outer signal is aborted already has ended before it began', () => {
    const limit = startTimeLimit(1_000, [AbortSignal.abort()]);
    limit.stop();
    expect(limit.signal.aborted).toBe(true);
    expect(limit.isOver()).toBe(false);
  });

  test('that is stopped does not end any more', () => {
    const timer = handTimer();
    const limit = startTimeLimit(1_000, [], timer.start);
    limit.stop();
    timer.goOff();
    expect(limit.signal.aborted).toBe(false);
  });
});

test('a sleep that is longer than any timer does not end at once, and ends with the signal', async () => {
  const awake = new AbortController();
  let slept = false;
  const sleeping = sleep(2 ** 31, awake.signal).then(() => {
    slept = true;
  });
  // A timer that is set to more than it can count goes off after a millisecond.
  await wait(50);
  expect(slept).toBe(false);
  awake.abort();
  await sleeping;
});
