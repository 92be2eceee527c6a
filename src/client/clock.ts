import type { IncomingHttpHeaders } from 'node:http';
import type { Timestamp } from '../interface/resources.ts';
import type { Json } from './json.ts';

/** Responses have the time of the service in whole seconds: a recent time can appear to be in the future. */
export const responseClockMs = 1_000;

/** Includes the time that responses take to arrive. */
export const clockSlackMs = 2 * responseClockMs;

/** Milliseconds since 1970. */
export type Clock = () => number;

const startedAt = Date.now() - process.uptime() * 1_000;

/** Does not jump when the clock of the machine is set. `performance` does not either, but takes longer to load. */
export const steadyClock: Clock = () => startedAt + process.uptime() * 1_000;

export interface ServerClock {
  readonly now: Clock;
  observe(headers: IncomingHttpHeaders): void;
}

/** The clock of the server, from its last response. Before the first, that of this machine or an earlier estimate. */
export function createServerClock(clock: Clock, knownOffsetMs = 0): ServerClock {
  let offsetMs = knownOffsetMs;
  return {
    now: () => clock() + offsetMs,
    observe: (headers) => {
      const date = dateOf(headers);
      if (date !== undefined) offsetMs = date - clock();
    },
  };
}

/** Smaller numbers are seconds since 1970. In milliseconds, this one is in 1973. */
const firstMilliseconds = 100_000_000_000;

/** Date.parse finds a date in nearly every text with a number. */
const looksLikeDate = /^(\d{4}-\d\d-\d\d|(mon|tue|wed|thu|fri|sat|sun)\b)/i;

/** Parses RFC 3339, other dates that a server may send, or a number of seconds or milliseconds since 1970. */
export function timestampIn(json: Json | undefined): Timestamp | undefined {
  if (typeof json === 'number') return timestamp(json < firstMilliseconds ? json * 1_000 : json);
  if (typeof json !== 'string' || !looksLikeDate.test(json)) return undefined;
  // A time without a zone would be parsed in the zone of this machine.
  const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(json);
  return timestamp(Date.parse(zoneless ? `${json}Z` : json));
}

/**
 * The time of the response by the clock of the server: RFC 9110 section 6.6.1, and for a cached one RFC 9111 section
 * 5.1. Undefined for a time that no timestamp can express.
 */
export function dateOf(headers: IncomingHttpHeaders): number | undefined {
  const date = Date.parse(headers.date ?? '');
  if (Number.isNaN(date)) return undefined;
  const [age = '0'] = /^\d{1,9}$/.exec(headers.age ?? '') ?? [];
  const time = date + Number(age) * 1_000;
  return hasTimestamp(time) ? time : undefined;
}

const timestamp = (ms: number): Timestamp | undefined => (hasTimestamp(ms) ? new Date(ms).toISOString() : undefined);

const lastYear = Date.UTC(10_000, 0, 1) - 1;

const hasTimestamp = (ms: number): boolean => ms >= 0 && ms <= lastYear;
