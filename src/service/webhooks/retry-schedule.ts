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
