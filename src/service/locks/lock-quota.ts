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

/** Decides in input order which of the requests for free paths may not add a lock. */
export type LockQuota = (
  db: Database,
  now: Now,
  requests: readonly Record<'workspace' | 'owner', string>[],
) => Promise<readonly (QuotaExceeded | undefined)[]>;

export const noLockQuota: LockQuota = async (_db, _now, requests) => requests.map(() => undefined);

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

  function decide({ total, ofOwner }: KnownCount, owner: string): QuotaExceeded | undefined {
    if (total >= maxLocks) return { kind: 'exceeded', quota: 'maxLocks', max: maxLocks };
    if ((ofOwner.get(owner) ?? 0) < maxLocksPerOwner) return undefined;
    return { kind: 'exceeded', quota: 'maxLocksPerOwner', max: maxLocksPerOwner };
  }

  return async (db, now, requests) => {
    const admitted: (typeof requests)[number][] = [];

    async function counted(workspace: string): Promise<KnownCount> {
      const known = await count(db, now, workspace, clock());
      // Locks admitted by this call are not in the table yet.
      for (const each of admitted) if (each.workspace === workspace) take(known, each.owner);
      workspaces.set(workspace, known);
      return known;
    }

    const decisions: (QuotaExceeded | undefined)[] = [];
    for (const request of requests) {
      const { workspace, owner } = request;
      let known = workspaces.get(workspace) ?? (await counted(workspace));
      const isFull = decide(known, owner) !== undefined;
      const isOld = clock() - known.countedAt >= countAgainMs;
      if (known.takenSince >= maxUncounted || (isFull && isOld)) known = await counted(workspace);
      const decision = decide(known, owner);
      decisions.push(decision);
      if (decision !== undefined) continue;
      take(known, owner);
      admitted.push(request);
    }
    return decisions;
  };
}

function take(known: KnownCount, owner: string): void {
  known.total += 1;
  known.takenSince += 1;
  known.ofOwner.set(owner, (known.ofOwner.get(owner) ?? 0) + 1);
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
