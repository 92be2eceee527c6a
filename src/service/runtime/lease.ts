import { sql } from 'kysely';
import type { Now, Storage } from '../storage/storage.ts';
import { repeat } from './repeat.ts';

/** Work that an instance has claimed: a row, and what names the claim. A later claim of the same row has another name. */
export interface Leased {
  readonly id: string;
  readonly lease: string;
}

/** Renews the lease and records the progress; false if it was taken over, ended, or removed. */
export async function renewLease(
  { claim, now }: Storage,
  table: 'syncs' | 'deliveries',
  { id, lease }: Leased,
  progress: Readonly<Record<string, number>> = {},
): Promise<boolean> {
  const columns = Object.entries(progress).map(([name, value]) => sql`, ${sql.ref(name)} = ${value}`);
  const { numAffectedRows = 0n } = await claim((db) =>
    sql`update ${sql.table(table)} set lease_until = ${leasedUntil(now)} ${sql.join(columns, sql` `)}
      where id = ${id} and lease_owner = ${lease} and finished_at is null`.execute(db),
  );
  return numAffectedRows > 0n;
}

/**
 * Ends the lease at once, so that the next instance continues the work. A sync counts its attempts when it is claimed,
 * except one that a stopping service interrupts; a delivery counts ended attempts.
 */
export async function endLease(
  { claim }: Storage,
  table: 'syncs' | 'deliveries',
  { id, lease }: Leased,
): Promise<void> {
  const uncounted = table === 'syncs' ? sql`, attempts = attempts - 1` : sql``;
  await claim((db) =>
    sql`update ${sql.table(table)} set lease_owner = null, lease_until = 0 ${uncounted}
      where id = ${id} and lease_owner = ${lease}`.execute(db),
  );
}

/** For a database that no other instance uses: whatever is leased there was left by an earlier process. */
export async function endAllLeases({ claim }: Storage): Promise<void> {
  await claim(async (db) => {
    for (const table of ['syncs', 'deliveries']) {
      await sql`update ${sql.table(table)} set lease_owner = null, lease_until = 0
        where lease_until is not null and finished_at is null`.execute(db);
    }
  });
}

/** Renews a lease while a job runs, until the returned function is called; calls `lost` once when the lease is lost. */
export function keepLease(renew: () => Promise<boolean>, everyMs: number, lost: () => void): () => void {
  let ended = false;
  const end = (): void => {
    ended = true;
    void stopRepeating();
  };
  const stopRepeating = repeat(
    everyMs,
    async () => {
      if ((await renew()) || ended) return;
      end();
      lost();
    },
    // The database does not answer: the lease is longer than one interval, so the next renewal may still keep it.
    () => undefined,
  );
  return end;
}

/** Long enough to survive a pause of the process, short enough that a dead instance's work does not wait for long. */
export const leaseMs = 30_000;

export const leasedUntil = (now: Now) => sql<number>`${now} + ${sql.lit(leaseMs)}`;
