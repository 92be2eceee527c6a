import { type Duration, formatDuration, parseDuration } from './duration.ts';
import { accepted, type Parsed, refused } from './parsed.ts';

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
