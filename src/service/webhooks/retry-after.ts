import { parseRetryAfter } from '../../interface/retry-after.ts';

const maxSeconds = 24 * 60 * 60;

/** No receiver puts the next attempt off by more than a day, the longest delay of the schedule itself. */
export function retryAfterSeconds(field: string | undefined, now: Date): number | undefined {
  const ms = parseRetryAfter(field, now.getTime());
  return ms === undefined ? undefined : Math.min(Math.ceil(ms / 1_000), maxSeconds);
}
