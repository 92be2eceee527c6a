import { type Duration, parseDuration } from '../interface/duration.ts';
import { type Parsed, refused } from '../interface/parsed.ts';

/** Of at least a second, and so short that a time that lies as far ahead still has a date. */
export const durationUpTo =
  (max: Duration, named: string) =>
  (text: string): Parsed<Duration> => {
    const duration = parseDuration(text);
    if (!duration.ok) return duration;
    return duration.value.seconds >= 1 && duration.value.seconds <= max.seconds
      ? duration
      : refused(`It must be from 1s to ${named}.`);
  };
