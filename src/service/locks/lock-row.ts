import type { Selectable } from 'kysely';
import { type Lock, type LockType, lockTypes } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';

export type LockRow = Selectable<Tables['locks']>;

/** What clients see of a lock. */
export const recordedColumns = [
  ...(['workspace_id', 'path', 'id', 'type', 'owner', 'origin', 'note'] as const),
  ...(['acquired_at', 'expires_at', 'fence', 'lease_id'] as const),
];

export type RecordedLock = Pick<LockRow, (typeof recordedColumns)[number]>;

export const toLock = (row: RecordedLock): Lock => ({
  id: row.id,
  path: row.path,
  type: typeOf(row.type),
  owner: row.owner,
  origin: row.origin,
  note: row.note,
  acquired_at: asTimestamp(row.acquired_at),
  expires_at: asTimestamp(row.expires_at),
  fence: row.fence,
  lease: row.lease_id,
});

// A newer version of the service may have stored a type that this one does not support.
const typeOf = (text: string): LockType => lockTypes.find((type) => type === text) ?? 'exclusive';
