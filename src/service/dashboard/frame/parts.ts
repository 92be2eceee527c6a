import type { Logger } from 'pino';
import type { AccessControl } from '../../http/access.ts';
import type { Idempotent } from '../../idempotency/idempotency.ts';
import type { RefusedRequests } from '../../locks/refused-requests.ts';
import type { ReleasedLock } from '../../locks/waiters.ts';
import type { LockWatch } from '../../locks/watch-locks.ts';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import type { PrepareSync } from '../../syncs/trigger.ts';
import type { TargetCheck } from '../../webhooks/target-address.ts';
import type { RemoteMemory } from '../../workspaces/remote-memory.ts';

/** What the service hands to the pages. */
export interface DashboardParts extends AccessControl {
  readonly log: Logger;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve' | 'space'>;
  readonly idempotent: Idempotent;
  readonly targets: TargetCheck;
  readonly prepareSync: PrepareSync;
  readonly remoteMemory: RemoteMemory;
  readonly lockWatch: LockWatch;
  /** The origin at which others reach the service, where it is known. */
  readonly publicUrl: () => string | undefined;
  readonly refusedRequests: RefusedRequests;
  readonly windowsPaths: boolean;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** A sync was queued. */
  readonly onQueued: () => void;
  /** There may be events for webhooks. */
  readonly onLockEvent: () => void;
  /** Webhooks were added or changed, or are to be sent something again. */
  readonly onHooksChanged: () => void;
  /** Someone may be waiting for the path. */
  readonly onReleased: (lock: ReleasedLock) => void;
}
