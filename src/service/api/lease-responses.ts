import { Refusal } from '../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../contract/response.ts';
import type { Resource } from '../contract/schemas.ts';
import { type RecordedLock, toLock } from '../locks/find.ts';
import type { LostLock } from '../locks/lease-store.ts';
import type { HeldLease, LeaseDecision, LeaseRequest, WaitingLease } from '../locks/leases.ts';
import { findPools } from '../pools/pools.ts';
import { mapInSlices } from '../runtime/map-in-slices.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { Lease, waitingLeaseSchema } from './lease-schemas.ts';
import { appliedWait, keptText, notTaken, obstacleText, outdatedRefusal, retryAfterSeconds } from './lock-responses.ts';

export async function putLeaseResponse(
  storage: Storage,
  { id, branch }: LeaseRequest,
  decision: LeaseDecision,
): Promise<ApiResponse> {
  switch (decision.kind) {
    case 'held': {
      const { latest, outdated, as_of } = decision.comparison;
      const compared = latest !== 'off' && { outdated, ...(as_of !== undefined && { as_of }) };
      const lease = await heldLease(storage, decision, { ...compared });
      if (!decision.isNew) return lease;
      return { ...lease, status: 201, headers: appliedWait(decision.waitedSeconds) };
    }
    case 'waiting': {
      const { blocked, waitedSeconds } = decision;
      const headers = { 'retry-after': retryAfterSeconds(blocked.remainingSeconds), ...appliedWait(waitedSeconds) };
      return jsonApiResponse(202, waitingLease(id, decision), headers);
    }
    case 'blocked': {
      const { paths, count, next, remainingSeconds } = decision;
      const [first] = paths;
      const locks = paths.flatMap(({ obstacle }) => (obstacle?.kind === 'held' ? obstacle.lock : []));
      const more = count > 1 ? ` ${count - 1} more of the paths ${count === 2 ? 'is' : 'are'} not free.` : '';
      const detail = first?.obstacle === undefined ? keptText(first?.path ?? '', next) : obstacleText(first.obstacle);
      const headers = { 'retry-after': retryAfterSeconds(remainingSeconds) };
      throw new Refusal('locked', `${detail}${more}`, { locks, blocked: count, headers });
    }
    case 'outdated':
      throw outdatedRefusal({ branch }, decision.comparison, decision.comparison.outdated);
    default:
      throw notTaken(decision, `the lease ${id}`);
  }
}

export const waitingLease = (id: string, { queue, blocked }: WaitingLease): Resource<typeof waitingLeaseSchema> => ({
  ...{ id, state: 'waiting', queue },
  blocked: blocked.paths.map(({ path, obstacle }) => ({
    path,
    ...(obstacle?.kind === 'held' && { lock: obstacle.lock }),
    ...(obstacle?.kind === 'closed' && { closed_until: obstacle.until }),
  })),
});

/** Only its owner gets it: it has the secret properties of a pool. */
export async function heldLease(
  storage: Storage,
  { row, locks, lost }: HeldLease,
  compared: Pick<Lease, 'outdated' | 'as_of'> = {},
): Promise<ApiResponse> {
  const [pool] =
    row.pool === null ? [] : await findPools(storage.read, { workspace: row.workspace_id, name: row.pool });
  const items = new Map(pool?.items.map((item) => [item.path, item]));
  const held = (lock: RecordedLock): Lease['locks'][number] => {
    const { properties, secret } = items.get(lock.path) ?? { properties: {}, secret: [] };
    return { ...toLock(lock), state: 'held', ...(row.pool !== null && { properties, secret }) };
  };
  const firstEnd = locks.reduce((first, { expires_at }) => Math.min(first, expires_at), Number.MAX_SAFE_INTEGER);
  const lease: Omit<Lease, 'locks'> = {
    ...{ id: row.id, state: 'held', expires_at: asTimestamp(firstEnd), ...compared },
    acquired_at: locks[0] === undefined ? null : asTimestamp(locks[0].acquired_at),
  };
  const texts = await mapInSlices(locks, (lock) => JSON.stringify(held(lock)));
  const all = [...texts, ...lostOf(lost).map((lock) => JSON.stringify(lock))];
  return { status: 200, headers: {}, body: `${JSON.stringify(lease).slice(0, -1)},"locks":[${all.join()}]}` };
}

export const endedLease = (id: string, lost: readonly LostLock[]): Lease => ({
  ...{ id, state: 'ended', locks: lostOf(lost) },
  ...{ acquired_at: null, expires_at: null },
});

const lostOf = (lost: readonly LostLock[]) => lost.map((lock) => ({ ...lock, state: 'lost' as const }));
