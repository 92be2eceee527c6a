import type { Logger } from 'pino';
import type { LockRoutes } from '../../api/locks.ts';
import type { LockWatch } from '../../locks/watch-locks.ts';
import type { PrepareSync } from '../../syncs/trigger.ts';
import type { TargetCheck } from '../../webhooks/target-address.ts';
import type { RemoteMemory } from '../../workspaces/remote-memory.ts';
import type { SuggestPaths } from '../../workspaces/suggest-paths.ts';

/** What the service hands to the pages. */
export interface DashboardParts extends LockRoutes {
  readonly log: Logger;
  readonly targets: TargetCheck;
  readonly prepareSync: PrepareSync;
  readonly remoteMemory: RemoteMemory;
  readonly suggestPaths: SuggestPaths;
  readonly lockWatch: LockWatch;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** A sync was queued. */
  readonly onQueued: () => void;
  /** Webhooks were added or changed, or are to be sent something again. */
  readonly onHooksChanged: () => void;
}
