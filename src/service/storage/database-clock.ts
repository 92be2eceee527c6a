import { sql } from 'kysely';
import type { Storage } from './storage.ts';

export type DatabaseClock = Awaited<ReturnType<typeof openDatabaseClock>>;

/** The clock of the database without a query for each look. The clock of this machine may be wrong. */
export async function openDatabaseClock({ read, now }: Pick<Storage, 'read' | 'now'>) {
  let offsetMs = 0;

  async function refresh(): Promise<void> {
    const { rows } = await sql<{ readonly now: number }>`select ${now} as now`.execute(read);
    offsetMs = Number(rows[0]?.now) - performance.now();
  }

  await refresh();
  return {
    refresh,
    /** Milliseconds since 1970. */
    now: (): number => offsetMs + performance.now(),
  };
}
