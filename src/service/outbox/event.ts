import type { HookEvent, Timestamp } from '../../interface/resources.ts';
import type { Lock, Sync } from '../contract/schemas.ts';

interface Occurrence<Type extends HookEvent, Data> {
  readonly type: Type;
  readonly workspace: string;
  readonly occurredAt: Timestamp;
  readonly data: Readonly<Data>;
}

/** `triggered_by` is the name of a token, or another reason, such as a push. */
type SyncOccurrence = Occurrence<'sync.succeeded' | 'sync.failed', { sync: Sync; triggered_by: string }>;

/** An event in a workspace. */
export type OutboxEvent =
  | SyncOccurrence
  | Occurrence<'lock.acquired' | 'lock.expired', { lock: Lock }>
  | Occurrence<'lock.released', { lock: Lock; released_by: string; forced: boolean }>
  /** A request started to wait for a lock. */
  | Occurrence<'lock.requested', { lock: Lock; request: Pick<Lock, 'owner' | 'origin' | 'note'> }>;

/** A delivery of an event, as input for its formats. */
export type HookEventOccurrence = OutboxEvent & {
  /**
   * Value of the header `webhook-id`, the same for every attempt. It must not contain a period, which separates the
   * parts of the signed text (Standard Webhooks 1.0, "Signature scheme").
   */
  readonly id: string;
};

export const isSyncEvent = (event: HookEvent): event is SyncOccurrence['type'] =>
  event === 'sync.succeeded' || event === 'sync.failed';
