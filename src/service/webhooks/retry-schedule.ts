import { parseRetryAfter } from '../../interface/retry-after.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * Delay of each attempt after the previous one. This is the example schedule of Standard Webhooks 1.0, section
 * "Deliverability and reliability". The last attempt is made three days after the event.
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

/** Adds up to a tenth, so that deliveries that failed together are not retried together, and none is retried early. */
const jitter = 0.1;

/** Milliseconds from the last attempt to the next one; undefined to give up the delivery. */
export function nextAttemptAfter(attemptsMade: number, random: () => number = Math.random): number | undefined {
  const delay = delays[attemptsMade];
  return delay === undefined ? undefined : Math.round(delay * (1 + jitter * random()));
}

const maxRetryAfterSeconds = 24 * 60 * 60;

/** A receiver can delay the next attempt by at most a day, which is also the longest delay of the schedule. */
export function retryAfterSeconds(field: string | undefined, now: Date): number | undefined {
  const ms = parseRetryAfter(field, now.getTime());
  return ms === undefined ? undefined : Math.min(Math.ceil(ms / 1_000), maxRetryAfterSeconds);
}
