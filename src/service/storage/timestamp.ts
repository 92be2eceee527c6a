import type { Timestamp } from '../../interface/resources.ts';

export const asTimestampOrNull = (milliseconds: number | null): Timestamp | null =>
  milliseconds === null ? null : asTimestamp(milliseconds);

export const asTimestamp = (milliseconds: number): Timestamp => new Date(milliseconds).toISOString();
