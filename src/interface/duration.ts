import { accepted, type Parsed, refused } from './parsed.ts';

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** A whole number of seconds, written as a number and one unit: `45s`, `10m`, `1h`, `7d`. */
export interface Duration {
  readonly seconds: number;
}

/** Formats the duration in the largest unit that gives a whole number. */
export function formatDuration({ seconds }: Duration): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (seconds > 0 && seconds % secondsIn[unit] === 0) return `${seconds / secondsIn[unit]}${unit}`;
  }
  return `${seconds}s`;
}

/** Callers choose a `max` that, added to the current time, still gives a valid date. */
export const parseDurationBetween =
  (min: Duration, max: Duration) =>
  (text: string): Parsed<Duration> => {
    const [, digits, unit] = durationPattern.exec(text) ?? [];
    if (digits === undefined || !isUnit(unit)) {
      return refused('It must be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.');
    }
    const seconds = Number(digits) * secondsIn[unit];
    return seconds >= min.seconds && seconds <= max.seconds
      ? accepted({ seconds })
      : refused(`It must be from ${formatDuration(min)} to ${formatDuration(max)}.`);
  };

/** A hundred years. */
export const maxDuration: Duration = { seconds: 36_500 * secondsIn.d };

export const parsePositiveDuration = parseDurationBetween({ seconds: 1 }, maxDuration);

export const durationPattern = new RegExp(`^(\\d+)([${Object.keys(secondsIn).join('')}])$`);

export const milliseconds = ({ seconds }: Duration): number => seconds * 1_000;

/** Formats a time span for users: "40 s", "12 min", "3 h 20 min", "2 d 4 h". */
export function formatSpan(seconds: number): string {
  const { m: minute, h: hour, d: day } = secondsIn;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 2 * minute) return `${whole} s`;
  const minutes = Math.round(whole / minute);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(whole / hour);
  if (hours < 48) {
    const rest = Math.round((whole - hours * hour) / minute);
    return rest === 0 || rest === 60 ? `${hours + (rest === 60 ? 1 : 0)} h` : `${hours} h ${rest} min`;
  }
  const days = Math.floor(whole / day);
  const rest = Math.floor((whole - days * day) / hour);
  return rest === 0 ? `${days} d` : `${days} d ${rest} h`;
}

type Unit = keyof typeof secondsIn;

const isUnit = (text: string | undefined): text is Unit => text !== undefined && text in secondsIn;

declare const brand: unique symbol;

/** The lifetime of a lock: a duration within the limits of the service. */
export type Ttl = Duration & { readonly [brand]: 'Ttl' };

export const minTtl: Duration = { seconds: 1 };
export const maxTtl: Duration = { seconds: 30 * 86_400 };

/** The time to wait for locks, or for a sync. */
export const parseWait = parseDurationBetween({ seconds: 0 }, maxTtl);

/** The brand exists only at compile time. */
export const parseTtl = parseDurationBetween(minTtl, maxTtl) as (text: string) => Parsed<Ttl>;
