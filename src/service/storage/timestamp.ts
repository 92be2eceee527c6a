import type { Timestamp } from '../../interface/resources.ts';

export const asTimestampOrNull = (milliseconds: number | null): Timestamp | null =>
  milliseconds === null ? null : asTimestamp(milliseconds);

/** The locks of a lease have the same few times, and formatting a time costs more than all other work on a lock. */
const recent = new Map<number, Timestamp>();
const maxRecent = 1_000;

export function asTimestamp(milliseconds: number): Timestamp {
  const known = recent.get(milliseconds);
  if (known !== undefined) return known;
  const text = new Date(milliseconds).toISOString();
  if (recent.size >= maxRecent) recent.clear();
  recent.set(milliseconds, text);
  return text;
}
