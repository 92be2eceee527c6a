import { sql } from 'kysely';
import type { Database, Now } from '../storage/storage.ts';

export interface LockQuotas {
  readonly maxLocks: number;
  readonly maxLocksPerOwner: number;
}

export interface QuotaExceeded {
  readonly kind: 'exceeded';
  readonly quota: keyof LockQuotas;
  readonly max: number;
}

/** A number of free paths to lock together. */
interface QuotaRequest {
  readonly workspace: string;
  readonly owner: string;
  readonly count: number;
}

/** Decides in input order which of the requests may not add their locks. */
export type LockQuota = (
  db: Database,
  now: Now,
  requests: readonly QuotaRequest[],
) => Promise<readonly (QuotaExceeded | undefined)[]>;

/** Upper bound for a workspace: the last count plus all locks acquired since. Releases show up in the next count. */
interface KnownCount {
  total: number;
  readonly ofOwner: Map<string, number>;
  takenSince: number;
  countedAt: number;
}

/** Minimum age of a count before a refused request repeats it. */
const countAgainMs = 1_000;

/** Share of a quota that an instance may use before it counts again: other instances grant locks, too. */
const uncounted = 1 / 20;

/** Counts in memory, and in the database only if a workspace may be full: that costs more with each lock. */
export function createLockQuota({ maxLocks, maxLocksPerOwner }: LockQuotas, clock: () => number): LockQuota {
  const workspaces = new Map<string, KnownCount>();
  const maxUncounted = Math.ceil(Math.min(maxLocks, maxLocksPerOwner) * uncounted);

  function decide({ total, ofOwner }: KnownCount, { owner, count }: QuotaRequest): QuotaExceeded | undefined {
    if (total + count > maxLocks) return { kind: 'exceeded', quota: 'maxLocks', max: maxLocks };
    if ((ofOwner.get(owner) ?? 0) + count <= maxLocksPerOwner) return undefined;
    return { kind: 'exceeded', quota: 'maxLocksPerOwner', max: maxLocksPerOwner };
  }

  return async (db, now, requests) => {
    const admitted: QuotaRequest[] = [];
    /** The workspaces that this call has counted: their count is exact. */
    const exact = new Set<string>();

    async function counted(workspace: string): Promise<KnownCount> {
      const known = await count(db, now, workspace, clock());
      // Locks admitted by this call are not in the table yet.
      for (const each of admitted) if (each.workspace === workspace) take(known, each);
      workspaces.set(workspace, known);
      exact.add(workspace);
      return known;
    }

    const decisions: (QuotaExceeded | undefined)[] = [];
    for (const request of requests) {
      const { workspace } = request;
      let known = workspaces.get(workspace) ?? (await counted(workspace));
      const isFull = decide(known, request) !== undefined;
      const isOld = clock() - known.countedAt >= countAgainMs;
      const isDue = known.takenSince + request.count > maxUncounted || (isFull && isOld);
      if (isDue && !exact.has(workspace)) known = await counted(workspace);
      const decision = decide(known, request);
      decisions.push(decision);
      if (decision !== undefined) continue;
      take(known, request);
      admitted.push(request);
    }
    return decisions;
  };
}

function take(known: KnownCount, { owner, count }: QuotaRequest): void {
  known.total += count;
  known.takenSince += count;
  known.ofOwner.set(owner, (known.ofOwner.get(owner) ?? 0) + count);
}

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
