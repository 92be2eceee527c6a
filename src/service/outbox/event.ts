import type { HookEvent, Lock, Timestamp } from '../../interface/resources.ts';
import type { Sync } from '../contract/schemas.ts';

interface Occurrence<Type extends HookEvent, Data> {
  /**
   * Value of the header `webhook-id`, the same for every attempt. It must not contain a period, which separates the
   * parts of the signed text (Standard Webhooks 1.0, "Signature scheme").
   */
  readonly id: string;
  readonly type: Type;
  readonly workspace: string;
  readonly occurredAt: Timestamp;
  readonly data: Data;
}

export type SyncOccurrence = Occurrence<
  'sync.succeeded' | 'sync.failed',
  {
    readonly sync: Sync;
    /** The name of a token, or another reason, such as a push. */
    readonly triggered_by: string;
  }
>;

export type LockOccurrence =
  | Occurrence<'lock.acquired' | 'lock.expired', { readonly lock: Lock }>
  | Occurrence<'lock.released', { readonly lock: Lock } & ReleaseDetails>
  | Occurrence<'lock.requested', { readonly lock: Lock; readonly request: RequestedBy }>;

export interface ReleaseDetails {
  readonly released_by: string;
  readonly forced: boolean;
}

/** A request that started to wait for a lock. */
export interface RequestedBy {
  readonly owner: string;
  readonly origin: string | null;
  readonly note: string | null;
}

/** An event in a workspace, as input for the formats of deliveries. */
export type HookEventOccurrence = SyncOccurrence | LockOccurrence;

export const isSyncEvent = (event: HookEvent): event is SyncOccurrence['type'] =>
  event === 'sync.succeeded' || event === 'sync.failed';
