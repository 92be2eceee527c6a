import { accepted, type Parsed, refused } from './parsed.ts';

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** A span of whole seconds, written as a number and one unit: `45s`, `10m`, `1h`, `7d`. */
export interface Duration {
  readonly seconds: number;
}

/** Formats the duration with the largest unit that leaves a whole number. */
export function formatDuration({ seconds }: Duration): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (seconds > 0 && seconds % secondsIn[unit] === 0) return `${seconds / secondsIn[unit]}${unit}`;
  }
  return `${seconds}s`;
}

/** Callers choose a `max` for which a time that far ahead still has a date. */
export const parseDurationBetween =
  (min: Duration, max: Duration) =>
  (text: string): Parsed<Duration> => {
    const duration = parseDuration(text);
    if (!duration.ok) return duration;
    return duration.value.seconds >= min.seconds && duration.value.seconds <= max.seconds
      ? duration
      : refused(`It must be from ${formatDuration(min)} to ${formatDuration(max)}.`);
  };

/** A hundred years. */
export const maxDuration: Duration = { seconds: 36_500 * secondsIn.d };

export const parsePositiveDuration = parseDurationBetween({ seconds: 1 }, maxDuration);

/** Formats milliseconds like formatSpan, rounded up: "300 ms", "40 s". */
export const spanOfMs = (ms: number): string =>
  ms < 1_000 ? `${Math.ceil(ms)} ms` : formatSpan(Math.ceil(ms / 1_000));

export const durationPattern = new RegExp(`^(\\d+)([${Object.keys(secondsIn).join('')}])$`);

export function parseDuration(text: string): Parsed<Duration> {
  const [, digits, unit] = durationPattern.exec(text) ?? [];
  if (digits === undefined || !isUnit(unit)) {
    return refused('It must be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.');
  }
  const duration = { seconds: Number(digits) * secondsIn[unit] };
  if (!Number.isSafeInteger(milliseconds(duration))) return refused('It is too long.');
  return accepted(duration);
}

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

export function parseTtl(text: string): Parsed<Ttl> {
  const duration = parseDuration(text);
  if (!duration.ok) return duration;
  if (withinLimits(duration.value)) return accepted(duration.value);
  return refused(`A lock lasts at least ${formatDuration(minTtl)} and at most ${formatDuration(maxTtl)}.`);
}

const withinLimits = (duration: Duration): duration is Ttl =>
  duration.seconds >= minTtl.seconds && duration.seconds <= maxTtl.seconds;
