import { parseTtl } from '../../../src/interface/duration.ts';
import { createIdempotency } from '../../../src/service/idempotency/idempotency.ts';
import { createLocks } from '../../../src/service/locks/locks.ts';
import { type TakeDecision, type TakeRequest, type TakeRules, take } from '../../../src/service/locks/take.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import type { Bearer } from '../../../src/service/tokens/tokens.ts';
import { valueIn } from '../../support/value-in.ts';

export const bearerOf = (owner: string): Bearer => ({
  ...{ id: `tok_${owner}`, name: owner, owner, scopes: [], workspaces: null },
});

/** The locks of an instance with this storage. */
export const locksOn = (storage: Storage, onError: (error: unknown) => void) =>
  createLocks({ storage, idempotency: createIdempotency(storage), metrics: createMetrics(), onError });

/** No quota, and no clients at this instance. */
export const noRules: TakeRules = { quota: async () => new Map(), keepPresent: async () => false };

/** A request of Ada for an exclusive lock for an hour, unless given otherwise. */
export const lockRequest = (path: string, more: Partial<TakeRequest> = {}): TakeRequest => ({
  ...{ workspace: 'game', ttl: valueIn(parseTtl('1h')), bearer: bearerOf('ada'), origin: null },
  ...{ keys: [{ workspace: more.workspace ?? 'game', path }], wanted: 1, waitId: `wait for ${path}` },
  comparison: { latest: 'off', outdated: [] },
  ...more,
});

/** Takes a lock on each path, in a transaction. */
export const takeIn = (
  db: Database,
  paths: readonly string[],
  more: Partial<TakeRequest> = {},
): Promise<readonly TakeDecision[]> =>
  take(
    db,
    paths.map((path) => lockRequest(path, more)),
    noRules,
  );

/** The lock of a request that was granted one. */
export function grantedLock(decision: TakeDecision | undefined) {
  const lock = decision?.kind === 'granted' ? decision.locks[0] : undefined;
  if (lock === undefined) throw new Error(`The request is ${decision?.kind}.`);
  return lock;
}
