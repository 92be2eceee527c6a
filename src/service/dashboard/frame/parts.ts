import type { Logger } from 'pino';
import type { AccessControl } from '../../http/access.ts';
import type { Idempotent } from '../../idempotency/idempotency.ts';
import type { Locks } from '../../locks/locks.ts';
import type { TargetCheck } from '../../outbound/target-address.ts';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import type { PrepareSync } from '../../syncs/trigger.ts';
import type { RemoteMemory } from '../../workspaces/remote-memory.ts';
import type { Remotes } from '../../workspaces/remotes.ts';
import type { SuggestPaths } from '../../workspaces/suggest-paths.ts';

/** Components of the service that the pages use. */
export interface DashboardParts extends AccessControl {
  readonly idempotent: Idempotent;
  readonly locks: Locks;
  readonly log: Logger;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve' | 'space'>;
  readonly targets: TargetCheck;
  readonly prepareSync: PrepareSync;
  readonly remoteMemory: RemoteMemory;
  readonly remotes: Remotes;
  /** Removes the mirror and the LFS objects of a removed workspace. */
  readonly removeFiles: (workspace: string) => Promise<void>;
  readonly suggestPaths: SuggestPaths;
  /** The public origin of the service; undefined if unknown. */
  readonly publicUrl: () => string | undefined;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** Called when a sync was queued. */
  readonly onQueued: () => void;
  /** Called when webhooks were added or changed, or a delivery must be sent again. */
  readonly onHooksChanged: () => void;
}
