import { sql } from 'kysely';
import type { Timestamp } from '../../interface/resources.ts';
import type { Database, Now, Storage } from './storage.ts';

export const asTimestampOrNull = (milliseconds: number | null): Timestamp | null =>
  milliseconds === null ? null : asTimestamp(milliseconds);

export const asTimestamp = (milliseconds: number): Timestamp => new Date(milliseconds).toISOString();

/** The time by the clock of the database, in milliseconds since 1970. */
export async function timeOf(db: Database, now: Now): Promise<number> {
  const { rows } = await sql<{ at: number }>`select ${now} as at`.execute(db);
  const [{ at } = { at: Number.NaN }] = rows;
  return at;
}

export type DatabaseClock = Awaited<ReturnType<typeof openDatabaseClock>>;

/** The clock of the database without a query for each look. The clock of this machine may be wrong. */
export async function openDatabaseClock({ read, now }: Pick<Storage, 'read' | 'now'>) {
  let offsetMs = 0;
  const refresh = async (): Promise<void> => {
    offsetMs = (await timeOf(read, now)) - performance.now();
  };
  await refresh();
  return { refresh, now: (): number => offsetMs + performance.now() };
}
