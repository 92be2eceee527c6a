import type { Timestamp } from '../interface/resources.ts';
import type { Json } from './json.ts';

const lastYear = Date.UTC(10_000, 0, 1) - 1;

export const timestamp = (ms: number): Timestamp | undefined =>
  ms >= 0 && ms <= lastYear ? new Date(ms).toISOString() : undefined;

/** Numbers below this are seconds since 1970; in milliseconds it would be in 1973. */
const firstMilliseconds = 100_000_000_000;

/** Date.parse finds a date in nearly every text that has a number. */
const looksLikeDate = /^(\d{4}-\d\d-\d\d|(mon|tue|wed|thu|fri|sat|sun)\b)/i;

/** RFC 3339, what else a server may take for a date, or a number of seconds or milliseconds since 1970. */
export function timestampIn(json: Json | undefined): Timestamp | undefined {
  if (typeof json === 'number') return timestamp(json < firstMilliseconds ? json * 1_000 : json);
  if (typeof json !== 'string' || !looksLikeDate.test(json)) return undefined;
  // Without a zone it would be read in the zone of this machine.
  const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(json);
  return timestamp(Date.parse(zoneless ? `${json}Z` : json));
}
