import { asTimestamp } from '../storage/timestamp.ts';
import type { OccurredEvent, OutboxEvent } from '../webhooks/outbox.ts';
import { type LockRow, lockOf } from './lock-row.ts';

const about = (lock: LockRow, event: OutboxEvent): OccurredEvent => ({
  event,
  subject: { orderingKey: `lock:${lock.path}`, branch: null },
});

export const acquiredEvent = (lock: LockRow): OccurredEvent =>
  about(lock, {
    type: 'lock.acquired',
    workspace: lock.workspace_id,
    occurredAt: asTimestamp(lock.acquired_at),
    data: { lock: lockOf(lock) },
  });

/** It was over at the end of its ttl, whenever it was noticed. */
export const expiredEvent = (lock: LockRow): OccurredEvent =>
  about(lock, {
    type: 'lock.expired',
    workspace: lock.workspace_id,
    occurredAt: asTimestamp(lock.expires_at),
    data: { lock: lockOf(lock) },
  });

export interface Released {
  readonly at: number;
  readonly by: string;
  readonly forced: boolean;
}

export const releasedEvent = (lock: LockRow, { at, by, forced }: Released): OccurredEvent =>
  about(lock, {
    type: 'lock.released',
    workspace: lock.workspace_id,
    occurredAt: asTimestamp(at),
    data: { lock: lockOf(lock), released_by: by, forced },
  });
