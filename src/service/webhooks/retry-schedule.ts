import { parseRetryAfter } from '../../interface/retry-after.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * How long each attempt waits after the one before it. This is the example schedule of Standard Webhooks 1.0, section
 * "Deliverability and reliability"; the last attempt is made three days after the event.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#deliverability-and-reliability
 */
const delays = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;

export const maxAttempts = delays.length;

/** At most a tenth is added, so that what failed together is not retried together, and nothing is retried early. */
const jitter = 0.1;

/** Milliseconds from the last attempt to the next one; undefined when the delivery is given up. */
export function nextAttemptAfter(attemptsMade: number, random: () => number = Math.random): number | undefined {
  const delay = delays[attemptsMade];
  return delay === undefined ? undefined : Math.round(delay * (1 + jitter * random()));
}

const maxRetryAfterSeconds = 24 * 60 * 60;

/** No receiver puts the next attempt off by more than a day, the longest delay of the schedule itself. */
export function retryAfterSeconds(field: string | undefined, now: Date): number | undefined {
  const ms = parseRetryAfter(field, now.getTime());
  return ms === undefined ? undefined : Math.min(Math.ceil(ms / 1_000), maxRetryAfterSeconds);
}
