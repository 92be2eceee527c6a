import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

export const dayMs = 86_400_000;

/** First millisecond after the day, since 1970. */
export function parseEndOfDay(text: string): Parsed<number> {
  const day = parseDay(text);
  return day.ok ? accepted(day.value + dayMs) : day;
}

/** First millisecond of the day in UTC, since 1970. */
export function parseDay(text: string): Parsed<number> {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text);
  return exists ? accepted(day) : refused('It must be a date such as 2026-03-01.');
}
