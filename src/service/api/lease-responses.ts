import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { invalid, Refusal } from '../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../contract/response.ts';
import type { Resource } from '../contract/schemas.ts';
import type { LeaseRequest } from '../locks/lease-store.ts';
import type { HeldLease, LeaseDecision, WaitingLease } from '../locks/leases.ts';
import { findPools } from '../pools/pools.ts';
import type { Storage } from '../storage/storage.ts';
import type { endSchema, Lease, waitingLeaseSchema } from './lease-schemas.ts';
import { keptText, notTaken, obstacleText, outdatedRefusal, retryAfterSeconds } from './lock-responses.ts';

export async function putLeaseResponse(
  storage: Storage,
  { id, branch, count = 0 }: LeaseRequest,
  decision: LeaseDecision,
  seconds: number | undefined,
): Promise<ApiResponse> {
  switch (decision.kind) {
    case 'held': {
      const { latest, outdated, as_of } = decision.comparison;
      const compared = latest !== 'off' && { outdated, ...(as_of !== undefined && { as_of }) };
      // Between the work on thousands of locks, other requests are served.
      await yieldToEventLoop();
      const lease = { ...(await heldLease(storage, decision)), ...compared };
      await yieldToEventLoop();
      if (!decision.isNew) return jsonApiResponse(200, lease);
      const applied = seconds !== undefined && { 'preference-applied': `wait=${seconds}` };
      return jsonApiResponse(201, lease, { ...applied });
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
      const { paths } = decision;
      const detail = `It is ${count}, and there ${paths === 1 ? 'is 1 path' : `are ${paths} paths`}.`;
      throw invalid({ pointer: '#/count', detail });
    }
    case 'same-file': {
      const detail = `On Windows, it is the same file as ${decision.path}, which the request already names.`;
      throw invalid({ pointer: `#/paths/${decision.index}`, detail });
    }
    case 'another-request':
      throw new Refusal(
        'lease-reused',
        `The lease ${id} was requested with another body. Use a new id for each lease.`,
      );
    case 'another-owner':
      throw anotherOwner(id);
    case 'ended':
    case 'absent':
      throw leaseEnded(id, decision.kind === 'ended' ? decision.end : null);
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

export const leaseEnded = (id: string, end: { readonly lost: Resource<typeof endSchema>['lost'] } | null): Refusal =>
  new Refusal('lease-ended', `The lease ${id} has ended, and holds no locks.`, { lost: [...(end?.lost ?? [])] });

/** Only its owner gets it: it has the secret properties of a pool. */
export async function heldLease(storage: Storage, { row, locks, lost }: HeldLease): Promise<Lease> {
  const [pool] =
    row.pool === null ? [] : await findPools(storage.read, { workspace: row.workspace_id, name: row.pool });
  const properties = new Map(pool?.items.map((item) => [item.path, item.properties]));
  return {
    id: row.id,
    state: 'held',
    locks: [
      ...locks.map((lock) => {
        const ofItem = row.pool === null ? undefined : (properties.get(lock.path) ?? {});
        return { ...lock, state: 'held' as const, ...(ofItem && { properties: ofItem }) };
      }),
      ...lostOf(lost),
    ],
    acquired_at: locks[0]?.acquired_at ?? null,
    expires_at: locks.reduce<string | null>(
      (first, { expires_at }) => (first !== null && first < expires_at ? first : expires_at),
      null,
    ),
  };
}

export const endedLease = (id: string, lost: HeldLease['lost']): Lease => ({
  ...{ id, state: 'ended', locks: lostOf(lost) },
  ...{ acquired_at: null, expires_at: null },
});

const lostOf = (lost: HeldLease['lost']) => lost.map((lock) => ({ ...lock, state: 'lost' as const }));
