import { accepted, type Parsed, refused } from './parsed.ts';

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

type Unit = keyof typeof secondsIn;

/** The number and the unit. */
export const durationPattern = new RegExp(`^(\\d+)([${Object.keys(secondsIn).join('')}])$`);

const isUnit = (text: string | undefined): text is Unit => text !== undefined && text in secondsIn;

/** A span of whole seconds, written as a number and one unit: `45s`, `10m`, `1h`, `7d`. */
export interface Duration {
  readonly seconds: number;
}

export function parseDuration(text: string): Parsed<Duration> {
  const [, digits, unit] = durationPattern.exec(text) ?? [];
  if (digits === undefined || !isUnit(unit)) {
    return refused('It has to be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.');
  }
  const duration = { seconds: Number(digits) * secondsIn[unit] };
  if (!Number.isSafeInteger(milliseconds(duration))) return refused('It is longer than can be counted.');
  return accepted(duration);
}

/** Writes the duration with the largest unit that leaves a whole number. */
export function formatDuration({ seconds }: Duration): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (seconds > 0 && seconds % secondsIn[unit] === 0) return `${seconds / secondsIn[unit]}${unit}`;
  }
  return `${seconds}s`;
}

export const milliseconds = ({ seconds }: Duration): number => seconds * 1_000;

/** Of at least a second, and so short that a time that lies as far ahead still has a date. */
export const durationUpTo =
  (most: Duration, named: string) =>
  (text: string): Parsed<Duration> => {
    const duration = parseDuration(text);
    if (!duration.ok) return duration;
    return duration.value.seconds >= 1 && duration.value.seconds <= most.seconds
      ? duration
      : refused(`It has to be from 1s to ${named}.`);
  };
