import { span } from '../../../interface/duration.ts';
import type { Timestamp } from '../../../interface/resources.ts';

/** To the minute, in UTC: `2026-03-01 14:05 UTC`. */
export const shownTime = (time: Timestamp): string => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

/** How far ahead a time is: `in 12 min`. */
export const shownUntil = (time: Timestamp, now: number): string => `in ${span((Date.parse(time) - now) / 1_000)}`;
