import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type StartTimer, sleep, startTimeLimit } from '../../src/client/time.ts';

/** A limit with two outer signals, and a timer that the test fires. */
function limited() {
  let goOff = (): void => undefined;
  const start: StartTimer = (_, work) => {
    goOff = work;
    return () => {
      goOff = () => undefined;
    };
  };
  const outer = new AbortController();
  const limit = startTimeLimit(1_000, [new AbortController().signal, outer.signal], start);
  return { limit, outer, goOff: () => goOff() };
}

test('a time limit aborts its signal when its time has passed', () => {
  const { limit, goOff } = limited();
  expect(limit.signal.aborted).toBe(false);
  goOff();
  expect(limit.signal.aborted).toBe(true);
  expect(limit.isOver()).toBe(true);
});

test('a time limit ends with an outer signal, and does not count as exceeded after that', () => {
  const { limit, outer, goOff } = limited();
  outer.abort();
  expect(limit.signal.aborted).toBe(true);
  goOff();
  expect(limit.isOver()).toBe(false);
});

test('a stopped time limit does not abort its signal', () => {
  const { limit, goOff } = limited();
  limit.stop();
  goOff();
  expect(limit.signal.aborted).toBe(false);
});

test('a sleep beyond the range of timers does not end at once, but ends with its signal', async () => {
  const awake = new AbortController();
  let slept = false;
  const sleeping = sleep(2 ** 31, awake.signal).then(() => {
    slept = true;
  });
  // Node fires a timer that exceeds its range after a millisecond.
  await wait(50);
  expect(slept).toBe(false);
  awake.abort();
  await sleeping;
});
