import { randomUUID } from 'node:crypto';

/**
 * A UUID that starts with the time (RFC 9562 section 5.7). New ids are adjacent in the index, instead of each changing
 * another page of it.
 */
export function newLockId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `lock_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
