import type { AccessControl } from '../http/access.ts';
import type { Idempotent } from '../idempotency/idempotency.ts';
import type { Compare } from '../latest/compare.ts';
import type { Locks } from '../locks/locks.ts';
import type { TargetCheck } from '../outbound/target-address.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { PrepareSync } from '../syncs/trigger.ts';
import type { ExchangeToken } from '../trust/exchange.ts';
import type { RemoteMemory } from '../workspaces/remotes.ts';

export interface ApiParts extends AccessControl {
  readonly idempotent: Idempotent;
  readonly locks: Locks;
  readonly compare: Compare;
  readonly prepareSync: PrepareSync;
  readonly targets: TargetCheck;
  readonly remoteMemory: RemoteMemory;
  readonly exchangeToken: ExchangeToken;
  readonly metrics: Metrics;
  readonly isStopping: () => boolean;
  readonly version: string;
  /** The public origin of the service; undefined if unknown. */
  readonly publicUrl: () => string | undefined;
}
