import { invalid, Refusal } from '../contract/problem.ts';
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
import { keptText, notTaken, obstacleText, outdatedRefusal, retryAfterSeconds } from './lock-responses.ts';

export async function putLeaseResponse(
  storage: Storage,
  { id, branch, count }: LeaseRequest,
  decision: LeaseDecision,
  seconds: number | undefined,
): Promise<ApiResponse> {
  switch (decision.kind) {
    case 'held': {
      const { latest, outdated, as_of } = decision.comparison;
      const compared = latest !== 'off' && { outdated, ...(as_of !== undefined && { as_of }) };
      const lease = await heldLease(storage, decision, { ...compared });
      if (!decision.isNew) return lease;
      const applied = seconds !== undefined && { 'preference-applied': `wait=${seconds}` };
      return { ...lease, status: 201, headers: { ...applied } };
    }
    case 'waiting': {
      const applied = decision.waited && { 'preference-applied': `wait=${seconds}` };
      const headers = { 'retry-after': retryAfterSeconds(decision.blocked.remainingSeconds), ...applied };
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
    case 'too-few-paths': {
      const { paths, repeated } = decision;
      if (repeated !== undefined && count === undefined) {
        throw invalid({ pointer: '#/paths', detail: `On Windows, ${repeated} is the same file as another of them.` });
      }
      const detail = `It is ${count}, and there ${paths === 1 ? 'is 1 path' : `are ${paths} paths`}.`;
      throw invalid({ pointer: '#/count', detail });
    }
    case 'another-request':
      throw new Refusal(
        'lease-reused',
        `The lease ${id} was requested with another body. Use a new id for each lease.`,
      );
    case 'another-owner':
      throw anotherOwner(id);
    case 'ended':
      throw leaseEnded(id, decision.lost);
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

export const noSuchLease = (id: string): Refusal =>
  new Refusal('not-found', `There is no lease ${id}: it was never granted, or ended more than 7 days ago.`);

export const anotherOwner = (id: string): Refusal =>
  new Refusal('lease-of-another-owner', `The lease ${id} belongs to another owner.`);

export const leaseEnded = (id: string, lost: readonly LostLock[]): Refusal =>
  new Refusal('lease-ended', `The lease ${id} has ended, and holds no locks.`, { lost: [...lost] });

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
