import type { WorkspaceId } from '../../client/access.ts';
import type { Client } from '../../client/client.ts';
import { conditionOf } from '../../client/known-lock.ts';
import type { CallLimits } from '../../client/request.ts';
import { machineClock } from '../../client/time.ts';
import { milliseconds, type Ttl } from '../../interface/duration.ts';
import { type Grant, lifetimeMs } from '../ledger/entry.ts';
import type { LockContext } from '../release.ts';

interface FirstRenewal extends Pick<LockContext, 'clock' | 'record'>, Pick<CallLimits, 'signal'> {
  readonly client: Pick<Client, 'isOurs' | 'renewLock' | 'serverNow'>;
  readonly workspace: WorkspaceId;
  readonly ttl: Ttl;
}

/** Generous, because the locks are already held, and the job or command waits. */
const maxMs = 10_000;

/**
 * Renews one lock, to find out whether the service supports renewal before anything relies on it. Services with marks
 * do. `refusal` says why it does not, and `failure` says why that is still unknown. The request for the lock in
 * `unanswered` may have renewed it.
 */
export async function renewFirst(
  { client, clock, signal, record, workspace, ttl }: FirstRenewal,
  grants: readonly Grant[],
) {
  const [first, ...others] = grants;
  if (first === undefined || client.isOurs()) return { grants };
  const { path, lock } = first;
  if (conditionOf(lock) === undefined) return { grants, refusal: 'Its locks have neither ids nor ETags.' };
  const request = { workspace, path, type: lock.type, ttl, idempotencyKey: `${first.key}/renewal`, proof: lock };
  const renewal = await client.renewLock(request, {
    deadline: clock() + Math.min(maxMs, milliseconds(ttl) / 3),
    signal,
  });
  if (renewal.kind === 'failed') {
    const { message } = renewal.error;
    if (renewal.response !== undefined) return { grants, refusal: message };
    return { grants, failure: message, unanswered: renewal.mayBeDone ? path : undefined };
  }
  const refusal = renewal.kind === 'replaced' ? 'It granted another lock instead.' : undefined;
  // A lock that the request only found may belong to another job.
  if (renewal.kind === 'renewed' || (renewal.kind === 'replaced' && renewal.isNew)) {
    const { id, etag, fence = lock.fence, acquired_at = lock.acquired_at, expires_at } = renewal.lock;
    const renewed = { ...first, lock: { ...lock, id, etag, fence, acquired_at, expires_at } };
    const now = { ...renewed, at: new Date(client.serverNow()).toISOString() };
    record({ ...now, renewedUntil: machineClock() + Math.floor(lifetimeMs(now, ttl)) });
    return { grants: [renewed, ...others], refusal };
  }
  if (renewal.kind === 'replaced') return { grants, refusal };
  // A service that answers 412 for a lost lock supports renewal. The next renewal records the loss.
  const isSupported = renewal.kind === 'lost' && renewal.error.status === 412;
  return isSupported ? { grants } : { grants, refusal: renewal.error.message };
}
