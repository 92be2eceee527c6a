import { sql } from 'kysely';
import { Refusal } from '../contract/response.ts';
import type { Database } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';

export type LockQuotas = Readonly<typeof lockQuotas>;

/** High enough that only a mistake reaches them. The pages stay fast far beyond these numbers. */
const lockQuotas = { maxLocks: 200_000, maxLocksPerOwner: 50_000 };

/** A request for free paths. */
interface QuotaRequest {
  readonly workspace: string;
  readonly bearer: { readonly owner: string };
  readonly wanted: number;
}

export type LockQuota = ReturnType<typeof createLockQuota>;

/** Upper bound for a workspace: the last count plus all locks acquired since. Releases show up in the next count. */
interface KnownCount {
  total: number;
  readonly ofOwner: Map<string, number>;
  takenSince: number;
  countedAt: number;
}

/** A refused request counts again only if the last count is older than this. */
const countAgainMs = 1_000;

/** Share of a quota that an instance may grant before it counts again, because other instances grant locks, too. */
const uncounted = 1 / 20;

/** Counts in memory, and in the database only if a workspace may be full: with more locks, that costs more. */
export function createLockQuota(quotas: Partial<LockQuotas> = {}, clock = () => performance.now()) {
  const { maxLocks, maxLocksPerOwner } = { ...lockQuotas, ...quotas };
  const workspaces = new Map<string, KnownCount>();
  const maxUncounted = Math.ceil(Math.min(maxLocks, maxLocksPerOwner) * uncounted);

  function whyExceeded({ total, ofOwner }: KnownCount, owner: string, wanted: number): string | undefined {
    if (total + wanted > maxLocks) return `The workspace has its maximum of ${maxLocks} locks.`;
    if ((ofOwner.get(owner) ?? 0) + wanted <= maxLocksPerOwner) return undefined;
    return `The owner of this token has the maximum of ${maxLocksPerOwner} locks in this workspace.`;
  }

  /** Returns the refusals of the requests that would exceed a quota. */
  return async <Request extends QuotaRequest>(db: Database, requests: readonly Request[]) => {
    const refusals = new Map<Request, Refusal>();
    for (const [workspace, group] of Map.groupBy(requests, (request) => request.workspace)) {
      let known = workspaces.get(workspace) ?? { total: 0, ofOwner: new Map(), takenSince: Infinity, countedAt: 0 };
      const sum = group.reduce((all, { wanted }) => all + wanted, 0);
      const mayExceed = group.some(({ bearer }) => whyExceeded(known, bearer.owner, sum) !== undefined);
      if (known.takenSince + sum > maxUncounted || (mayExceed && clock() - known.countedAt >= countAgainMs)) {
        known = { ...(await count(db, workspace)), takenSince: 0, countedAt: clock() };
        workspaces.set(workspace, known);
      }
      for (const request of group) {
        const { wanted, bearer } = request;
        const reason = whyExceeded(known, bearer.owner, wanted);
        if (reason !== undefined) refusals.set(request, new Refusal('quota-exceeded', `${reason} Release some.`));
        else {
          known.total += wanted;
          known.takenSince += wanted;
          known.ofOwner.set(bearer.owner, (known.ofOwner.get(bearer.owner) ?? 0) + wanted);
        }
      }
    }
    return refusals;
  };
}

async function count(db: Database, workspace: string) {
  const rows = await db
    .selectFrom('locks')
    .select(['owner', ({ fn }) => fn.countAll<number>().as('locks')])
    .where('workspace_id', '=', workspace)
    .where(sql<boolean>`expires_at > (select ${now})`)
    .groupBy('owner')
    .execute();
  const ofOwner = new Map(rows.map(({ owner, locks }) => [owner, Number(locks)]));
  const total = [...ofOwner.values()].reduce((sum, locks) => sum + locks, 0);
  return { total, ofOwner };
}
