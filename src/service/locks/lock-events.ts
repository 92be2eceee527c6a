import type { Database, Now } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { type OutboxEvent, recordEvent } from '../webhooks/outbox.ts';
import { type LockRow, lockOf } from './lock-row.ts';

const tell = (db: Database, now: Now, event: OutboxEvent, lock: LockRow): Promise<void> =>
  recordEvent(db, now, event, { orderingKey: `lock:${lock.path}`, branch: null });

export const recordAcquired = (db: Database, now: Now, lock: LockRow): Promise<void> =>
  tell(
    db,
    now,
    {
      type: 'lock.acquired',
      workspace: lock.workspace_id,
      occurredAt: asTimestamp(lock.acquired_at),
      data: { lock: lockOf(lock) },
    },
    lock,
  );

/** It was over at the end of its ttl, whenever it was noticed. */
export const recordExpired = (db: Database, now: Now, lock: LockRow): Promise<void> =>
  tell(
    db,
    now,
    {
      type: 'lock.expired',
      workspace: lock.workspace_id,
      occurredAt: asTimestamp(lock.expires_at),
      data: { lock: lockOf(lock) },
    },
    lock,
  );

export interface Released {
  readonly at: number;
  readonly by: string;
  readonly forced: boolean;
}

export const recordReleased = (db: Database, now: Now, lock: LockRow, { at, by, forced }: Released): Promise<void> =>
  tell(
    db,
    now,
    {
      type: 'lock.released',
      workspace: lock.workspace_id,
      occurredAt: asTimestamp(at),
      data: { lock: lockOf(lock), released_by: by, forced },
    },
    lock,
  );
