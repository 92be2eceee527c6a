import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type StartTimer, sleep, startTimeLimit } from '../../src/client/time-limit.ts';

/** A limit with two outer signals, and a timer that goes off when the test says so. */
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

test('a time limit aborts its signal when the time is over', () => {
  const { limit, goOff } = limited();
  expect(limit.signal.aborted).toBe(false);
  goOff();
  expect(limit.signal.aborted).toBe(true);
  expect(limit.isOver()).toBe(true);
});

test('a time limit ends with an outer signal, and then its time is not over, whatever comes later', () => {
  const { limit, outer, goOff } = limited();
  outer.abort();
  expect(limit.signal.aborted).toBe(true);
  goOff();
  expect(limit.isOver()).toBe(false);
});

test('a time limit that is stopped does not end any more', () => {
  const { limit, goOff } = limited();
  limit.stop();
  goOff();
  expect(limit.signal.aborted).toBe(false);
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
