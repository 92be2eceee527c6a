import type { Selectable } from 'kysely';
import { type Lock, type LockType, lockTypes } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';

export type LockRow = Selectable<Tables['locks']>;

export const toLock = (row: LockRow): Lock => ({
  id: row.id,
  path: row.path,
  type: typeOf(row.type),
  owner: row.owner,
  origin: row.origin,
  note: noteOf(row),
  acquired_at: asTimestamp(row.acquired_at),
  expires_at: asTimestamp(row.expires_at),
  fence: row.fence,
  lease: row.lease_id,
});

/** An earlier version of the service may have replaced the lock in the row, but kept the note of the previous one. */
export const noteOf = ({ id, note, noted_lock_id }: LockRow): string | null => (noted_lock_id === id ? note : null);

export const branchOf = ({ id, branch }: LockRow): string | null => valueOfLock(id, branch);

/** The part of a column after the id of the lock; null if it is about an earlier lock. */
export function valueOfLock(id: string, column: string | null): string | null {
  const [of, ...rest] = (column ?? '').split(' ');
  return of === id && rest.length > 0 ? rest.join(' ') : null;
}

// A newer version of the service may have stored a type that this one does not support.
const typeOf = (text: string): LockType => lockTypes.find((type) => type === text) ?? 'exclusive';
