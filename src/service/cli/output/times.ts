import type { Timestamp } from '../../../interface/resources.ts';

/** To the minute, in UTC: `2026-03-01 14:05 UTC`. */
export const shownTime = (time: Timestamp): string => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** How far ahead a time is, in the largest unit of which there are two: `in 12 min`. */
export function shownUntil(time: Timestamp, now: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(time) - now) / 1_000));
  for (const [name, length] of units) {
    if (seconds >= 2 * length) return `in ${Math.round(seconds / length)} ${name}`;
  }
  return `in ${seconds} s`;
}
