import type { QueuePosition } from '../../interface/problem.ts';
import { type ApiResponse, jsonApiResponse, Refusal } from '../contract/response.ts';
import type { Resource } from '../contract/schemas.ts';
import { type LockRow, toLock } from '../locks/find.ts';
import type { KnownLease } from '../locks/leases.ts';
import { appliedWait, type Blocked, obstacleText, retryHeaders } from '../locks/refusals.ts';
import type { Waited } from '../locks/wait-terms.ts';
import { findPools } from '../pools/pools.ts';
import { mapInSlices } from '../runtime/map-in-slices.ts';
import type { Database } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { Lease, waitingLeaseSchema } from './lease-schemas.ts';

export async function putLeaseResponse(
  read: Database,
  id: string,
  decision: Waited<KnownLease | Blocked>,
): Promise<ApiResponse> {
  if (decision.kind === 'granted') {
    const lease = await leaseResponse(read, decision);
    return decision.isNew ? { ...lease, status: 201, headers: appliedWait(decision.waitedSeconds) } : lease;
  }
  const { paths, count, queue } = decision;
  const headers = retryHeaders(decision);
  if (queue !== undefined) return jsonApiResponse(202, waitingLease(id, paths, queue), headers);
  const locks = paths.flatMap(({ lock }) => (lock ? toLock(lock) : []));
  const more = count > 1 ? ` ${count - 1} more of the paths ${count === 2 ? 'is' : 'are'} not free.` : '';
  throw new Refusal('locked', `${obstacleText(decision)}${more}`, { locks, blocked: count, headers });
}

export const waitingLease = (
  id: string,
  paths: Blocked['paths'],
  queue: QueuePosition,
): Resource<typeof waitingLeaseSchema> => ({
  id,
  state: 'waiting',
  queue,
  blocked: paths.map(({ path, lock }) => ({ path, ...(lock && { lock: toLock(lock) }) })),
});

/** Only for the owner of the lease, because it contains the secret properties of a pool. */
export async function leaseResponse(
  read: Database,
  { row, locks, lost, comparison = { latest: 'off', outdated: [] } }: KnownLease,
): Promise<ApiResponse> {
  const [pool] = row.pool === null ? [] : await findPools(read, row.workspace_id, row.pool);
  const items = new Map(pool?.items.map((item) => [item.path, item]));
  const held = (lock: LockRow): Lease['locks'][number] => {
    const { properties, secret } = items.get(lock.path) ?? { properties: {}, secret: [] };
    return { ...toLock(lock), state: 'held', ...(row.pool !== null && { properties, secret }) };
  };
  const { latest, outdated, as_of } = comparison;
  const [first] = locks;
  const firstEnd = locks.reduce((end, { expires_at }) => Math.min(end, expires_at), Number.MAX_SAFE_INTEGER);
  const lease: Omit<Lease, 'locks'> = {
    id: row.id,
    state: first ? 'held' : 'ended',
    ...(latest !== 'off' && { outdated, as_of }),
    acquired_at: first ? asTimestamp(first.acquired_at) : null,
    expires_at: first ? asTimestamp(firstEnd) : null,
  };
  const texts = await mapInSlices(locks, (lock) => JSON.stringify(held(lock)));
  const all = [...texts, ...lost.map((lock) => JSON.stringify({ ...lock, state: 'lost' }))];
  return { status: 200, headers: {}, body: `${JSON.stringify(lease).slice(0, -1)},"locks":[${all.join()}]}` };
}
