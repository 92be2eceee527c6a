import type { HookEvent, Lock, Sync, Timestamp } from '../../interface/resources.ts';

export type SyncEvent = Extract<HookEvent, `sync.${string}`>;
export type LockEvent = Extract<HookEvent, `lock.${string}`>;

interface Occurrence<Type extends HookEvent, Data> {
  /**
   * Becomes the header `webhook-id`, the same at every attempt. It must not have a full stop: that is what separates the
   * parts of the signed text (Standard Webhooks 1.0, "Signature scheme").
   */
  readonly id: string;
  readonly type: Type;
  readonly workspace: string;
  readonly occurredAt: Timestamp;
  /** `test`: it has not happened, and somebody wants to see what the receiver makes of it. */
  readonly data: Data & { readonly test?: true };
}

export type SyncOccurrence = Occurrence<SyncEvent, { readonly sync: Sync }>;

export type LockOccurrence =
  | Occurrence<Exclude<LockEvent, 'lock.released'>, { readonly lock: Lock }>
  | Occurrence<
      'lock.released',
      {
        readonly lock: Lock;
        /** The name of the token that released it. */
        readonly released_by?: string;
        readonly forced?: boolean;
      }
    >;

/** An entry of the audit, as it is listed, exported and sent. */
export interface RecordedEntry {
  /** Grows with each entry; not without gaps. */
  readonly sequence: number;
  readonly at: Timestamp;
  readonly actor: string;
  /** Null for acts at the command line. */
  readonly token_id: string | null;
  readonly address: string | null;
  /** Another version of the service may have recorded actions that this one does not have. */
  readonly action: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Only entries about the workspace of the hook. */
export type AuditOccurrence = Occurrence<'audit.recorded', { readonly entry: RecordedEntry }>;

/** Something that happened in a workspace, as the formats send it to the receivers. */
export type HookEventOccurrence = SyncOccurrence | LockOccurrence | AuditOccurrence;

export const isSyncEvent = (event: HookEvent): event is SyncEvent =>
  event === 'sync.succeeded' || event === 'sync.failed';
