import { sql } from 'kysely';
import { Refusal } from '../contract/response.ts';
import type { Database, Now } from '../storage/storage.ts';

export type LockQuotas = Readonly<typeof lockQuotas>;

/** So many that only a mistake reaches them. The pages stay fast far beyond. */
export const lockQuotas = { maxLocks: 200_000, maxLocksPerOwner: 50_000 };

/** A number of free paths to lock together. */
interface QuotaRequest {
  readonly workspace: string;
  readonly owner: string;
  readonly count: number;
}

/** Why requests may not add their locks, in input order; undefined for those that may. */
export type LockQuota = (
  db: Database,
  now: Now,
  requests: readonly QuotaRequest[],
) => Promise<readonly (Refusal | undefined)[]>;

/** Upper bound for a workspace: the last count plus all locks acquired since. Releases show up in the next count. */
interface KnownCount {
  total: number;
  readonly ofOwner: Map<string, number>;
  takenSince: number;
  countedAt: number;
}

/** Minimum age of a count before a refused request repeats it. */
const countAgainMs = 1_000;

/** Share of a quota that an instance may use before it counts again, because other instances also grant locks. */
const uncounted = 1 / 20;

/** Counts in memory, and in the database only if a workspace may be full: that costs more with each lock. */
export function createLockQuota({ maxLocks, maxLocksPerOwner }: LockQuotas, clock: () => number): LockQuota {
  const workspaces = new Map<string, KnownCount>();
  const maxUncounted = Math.ceil(Math.min(maxLocks, maxLocksPerOwner) * uncounted);

  /** Counts the locks of the requests that may add theirs. */
  function admit(known: KnownCount, { owner, count }: QuotaRequest): Refusal | undefined {
    const own = (known.ofOwner.get(owner) ?? 0) + count;
    if (known.total + count > maxLocks) return exceeded(`The workspace has its maximum of ${maxLocks} locks.`);
    if (own > maxLocksPerOwner) {
      return exceeded(`The owner of this token has the maximum of ${maxLocksPerOwner} locks in this workspace.`);
    }
    known.total += count;
    known.takenSince += count;
    known.ofOwner.set(owner, own);
    return undefined;
  }

  function mayExceed({ total, ofOwner }: KnownCount, requests: readonly QuotaRequest[]): boolean {
    const sum = sumOf(requests);
    return total + sum > maxLocks || requests.some(({ owner }) => (ofOwner.get(owner) ?? 0) + sum > maxLocksPerOwner);
  }

  return async (db, now, requests) => {
    const refusals = new Map<QuotaRequest, Refusal | undefined>();
    for (const [workspace, group] of Map.groupBy(requests, (request) => request.workspace)) {
      let known = workspaces.get(workspace);
      const isOld = known !== undefined && clock() - known.countedAt >= countAgainMs;
      if (!known || known.takenSince + sumOf(group) > maxUncounted || (isOld && mayExceed(known, group))) {
        known = await count(db, now, workspace, clock());
        workspaces.set(workspace, known);
      }
      for (const request of group) refusals.set(request, admit(known, request));
    }
    return requests.map((request) => refusals.get(request));
  };
}

const sumOf = (requests: readonly QuotaRequest[]): number => requests.reduce((sum, { count }) => sum + count, 0);

const exceeded = (text: string): Refusal => new Refusal('quota-exceeded', `${text} Release some.`);

async function count(db: Database, now: Now, workspace: string, clock: number): Promise<KnownCount> {
  const rows = await db
    .selectFrom('locks')
    .select(['owner', ({ fn }) => fn.countAll<number>().as('locks')])
    .where('workspace_id', '=', workspace)
    .where(sql<boolean>`expires_at > (select ${now})`)
    .groupBy('owner')
    .execute();
  const ofOwner = new Map(rows.map(({ owner, locks }) => [owner, Number(locks)]));
  const total = [...ofOwner.values()].reduce((sum, locks) => sum + locks, 0);
  return { total, ofOwner, takenSince: 0, countedAt: clock };
}
