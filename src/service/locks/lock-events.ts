import type { LockRequest, ReleaseDetails } from '../outbox/event.ts';
import type { OccurredEvent, OutboxEvent } from '../outbox/outbox.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { type LockRow, lockOf } from './lock-row.ts';

export const acquiredEvent = (lock: LockRow): OccurredEvent =>
  occurred(lock, { type: 'lock.acquired', ...about(lock, lock.acquired_at) });

/** Dated at the end of the ttl, even if the expiry was noticed later. */
export const expiredEvent = (lock: LockRow): OccurredEvent =>
  occurred(lock, { type: 'lock.expired', ...about(lock, lock.expires_at) });

export function releasedEvent(lock: LockRow, at: number, how: ReleaseDetails): OccurredEvent {
  const { data, ...event } = about(lock, at);
  return occurred(lock, { type: 'lock.released', ...event, data: { ...data, ...how } });
}

export const requestedEvent = (lock: LockRow, request: LockRequest, at: number): OccurredEvent => {
  const { data, ...event } = about(lock, at);
  return occurred(lock, { type: 'lock.requested', ...event, data: { ...data, request } });
};

const occurred = ({ path }: LockRow, event: OutboxEvent): OccurredEvent => ({
  event,
  subject: { orderingKey: `lock:${path}`, branch: null },
});

const about = (lock: LockRow, at: number) => ({
  workspace: lock.workspace_id,
  occurredAt: asTimestamp(at),
  data: { lock: lockOf(lock) },
});
