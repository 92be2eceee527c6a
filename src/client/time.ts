import type { IncomingHttpHeaders } from 'node:http';
import { uptime } from 'node:os';
import type { Timestamp } from '../interface/resources.ts';
import { maxTimerMs } from '../interface/timers.ts';
import type { Json } from './json.ts';

/** Responses have the time of the service in whole seconds, so a recent time can appear to be in the future. */
export const responseClockMs = 1_000;

/** Includes the time that a response takes to arrive. */
export const clockSlackMs = 2 * responseClockMs;

/** Milliseconds since 1970. */
export type Clock = () => number;

const startedAt = Date.now() - process.uptime() * 1_000;

/** Does not jump when the clock of the machine is set. Neither does `performance`, but it takes longer to load. */
export const steadyClock: Clock = () => startedAt + process.uptime() * 1_000;

/** Milliseconds since the start of the machine: the same for all processes of a job, and just as steady. */
export const machineClock: Clock = () => Math.round(uptime() * 1_000);

export interface ServerClock {
  readonly now: Clock;
  observe(headers: IncomingHttpHeaders): void;
}

/** The clock of the server, from its last response. Before the first response, the clock of this machine. */
export function createServerClock(clock: Clock): ServerClock {
  let offsetMs = 0;
  return {
    now: () => clock() + offsetMs,
    observe: (headers) => {
      const date = dateOf(headers);
      if (date !== undefined) offsetMs = date - clock();
    },
  };
}

/** Smaller numbers are seconds since 1970. In milliseconds, this number is in 1973. */
const firstMilliseconds = 100_000_000_000;

/** Smaller numbers are lifetimes of locks, or 0 for "never". In seconds, this number is in 1973. */
const firstSeconds = 100_000_000;

/** Date.parse finds a date in almost any text with a number. A day without a time is too vague for an expiry. */
const looksLikeDate = /^(\d{4}-\d\d-\d\d[T ]|(mon|tue|wed|thu|fri|sat|sun)\b)/i;

/** Parses RFC 3339, other dates that a server may send, or a number of seconds or milliseconds since 1970. */
export function timestampIn(json: Json | undefined): Timestamp | undefined {
  if (typeof json === 'number' && json < firstSeconds) return undefined;
  if (typeof json === 'number') return timestamp(json < firstMilliseconds ? json * 1_000 : json);
  if (typeof json !== 'string' || !looksLikeDate.test(json)) return undefined;
  // Without a zone, a time would be parsed in the zone of this machine.
  const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(json);
  return timestamp(Date.parse(zoneless ? `${json}Z` : json));
}

/**
 * The time of the response by the clock of the server (RFC 9110 section 6.6.1), corrected for cached responses (RFC
 * 9111 section 5.1). Undefined for a time that no timestamp can express.
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

/** Like `AbortSignal.timeout`, but can be stopped. Cheaper than `AbortSignal.any`, and each request has two. */
export function startTimeLimit(ms: number, outer: readonly AbortSignal[]) {
  const controller = new AbortController();
  const { signal } = controller;
  let isOver = false;
  const abort = (): void => controller.abort(outer.find(({ aborted }) => aborted)?.reason);
  const end = (): void => {
    if (signal.aborted) return;
    isOver = true;
    controller.abort();
  };
  const timer = setTimeout(end, Math.min(Math.max(ms, 0), maxTimerMs));
  for (const each of outer) each.addEventListener('abort', abort, { once: true });
  if (outer.some(({ aborted }) => aborted)) abort();
  return {
    /** Aborted when the time has passed or an outer signal is aborted. */
    signal,
    /** Whether the time had passed before any outer signal was aborted. */
    isOver: (): boolean => isOver,
    stop(): void {
      clearTimeout(timer);
      for (const each of outer) each.removeEventListener('abort', abort);
    },
  };
}

/** Returns early, without an error, if the signal is aborted. `node:timers/promises` would take long to load. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && signal?.aborted !== true; left -= maxTimerMs) {
    const limit = startTimeLimit(left, signal ? [signal] : []);
    await new Promise((resolve) => limit.signal.addEventListener('abort', resolve, { once: true }));
    limit.stop();
  }
}

const firstBackoffMs = 500;
const maxBackoffMs = 10_000;

/** Clients that are refused together get the same retry time, and must not all return at once. */
const jitterMs = 250;

/** The pause after this many failed attempts, unless the server asked for one. */
export function backoff(
  failed: number,
  retryAfterMs: number | undefined,
  random: () => number,
  maxMs = maxBackoffMs,
): number {
  const ms = Math.min(maxMs, firstBackoffMs * 2 ** (failed - 1));
  if (retryAfterMs === undefined) return withJitter(ms, random);
  return Math.max(retryAfterMs + random() * jitterMs, ms / 2);
}

/** Between half of the time and all of it, so that clients that failed together do not return together. */
export const withJitter = (ms: number, random: () => number): number => ms * (0.5 + random() / 2);

const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;

/**
 * Time reserved for the last attempt before a deadline: twice the duration of the previous attempt, because the last
 * one may be slower.
 */
export const lastAttemptMs = (previousElapsedMs: number): number =>
  Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousElapsedMs));
