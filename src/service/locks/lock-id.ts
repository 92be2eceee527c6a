import { randomUUID } from 'node:crypto';

export const newLockId = (): string => lockIdAt(newLockIds(), 0);

/**
 * The start of the ids of locks that are acquired together: a UUID that begins with the time (RFC 9562 section 5.7).
 * New ids are adjacent in the index, instead of each changing another page of it.
 */
export function newLockIds(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `lock_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15, -6)}`;
}

/** So that each number has six digits. */
export const firstLockNumber = 100_000;

/** Its last six digits are the number of the lock: the database writes thousands of them itself. */
export const lockIdAt = (ids: string, position: number): string => `${ids}${firstLockNumber + position}`;
