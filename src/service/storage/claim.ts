import { sql } from 'kysely';
import { repeat } from '../runtime/repeat.ts';
import type { Storage } from './storage.ts';
import { now } from './timestamp.ts';

/** Work that an instance has claimed: the ids of the row and of the claim. Each claim of a row has a new id. */
interface Claimed {
  readonly id: string;
  readonly claimId: string;
}

/** Ends the claim, so that this or another instance can continue the work after a pause. Subtracts `counted` attempts. */
export async function endClaim(
  { claim }: Storage,
  table: 'syncs' | 'deliveries',
  { id, claimId }: Claimed,
  { counted, pauseMs = 0 }: { readonly counted: number; readonly pauseMs?: number },
): Promise<void> {
  const until = pauseMs === 0 ? sql.lit(0) : sql`${now} + ${sql.lit(pauseMs)}`;
  await claim((db) =>
    sql`update ${sql.table(table)} set claimed_by = null, claimed_until = ${until}, attempts = attempts - ${sql.lit(counted)}
      where id = ${id} and claimed_by = ${claimId}`.execute(db),
  );
}

/** For a database that no other instance uses: all claims are leftovers of earlier processes. */
export async function endAllClaims({ claim }: Storage): Promise<void> {
  await claim(async (db) => {
    for (const table of ['syncs', 'deliveries']) {
      await sql`update ${sql.table(table)} set claimed_by = null, claimed_until = 0
        where claimed_until is not null`.execute(db);
    }
  });
}

/** Renews a claim until `end` is called. Aborts the signal if the service stops or the claim is lost. */
export function keepClaim(renew: () => Promise<boolean>, everyMs: number, stopping: AbortSignal) {
  const lost = new AbortController();
  let ended = false;
  function end(): void {
    ended = true;
    void stopRepeating();
  }
  const stopRepeating = repeat(
    everyMs,
    async () => {
      if ((await renew()) || ended) return;
      end();
      lost.abort();
    },
    // If the database does not respond, a later renewal may succeed, because a claim outlasts several intervals.
    () => undefined,
  );
  return { signal: AbortSignal.any([stopping, lost.signal]), end };
}

/** Long enough to survive a pause of the process, and short enough that others soon take over after a crash. */
export const claimMs = 30_000;

export const claimedUntil = sql<number>`${now} + ${sql.lit(claimMs)}`;
