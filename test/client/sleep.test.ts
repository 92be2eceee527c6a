import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sleep } from '../../src/client/time-limit.ts';

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

test.each([0, -1, Number.NaN])('a sleep of %d ms is none', async (ms) => {
  await sleep(ms, new AbortController().signal);
});

test('who is to wake up at once does not sleep', async () => {
  await sleep(2 ** 40, AbortSignal.abort());
});
