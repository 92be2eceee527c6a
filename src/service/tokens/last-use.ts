import { type RawBuilder, sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';

/**
 * Times of last use, kept in memory and written periodically: requests do not wait for it, and a crash loses the
 * latest.
 */
export interface LastUse {
  note(tokenId: string): void;
  /** Writes the times noted since the last call. On failure, keeps them for the next call. */
  write(): Promise<void>;
}

/** Stays far below the maximum number of parameters per statement in both databases. */
const rowsOfStatement = 500;

/** `clock` counts milliseconds of a monotonic clock: the database receives times relative to its own clock. */
export function createLastUse({ commit, now }: Pick<Storage, 'commit' | 'now'>, clock: () => number): LastUse {
  let used = new Map<string, number>();

  function statements(noted: ReadonlyMap<string, number>): RawBuilder<unknown>[] {
    const rows = [...noted].map(([id, at]) => {
      const ago = Math.max(0, Math.round(clock() - at));
      return sql`(${id}, cast(${now} - ${ago} as bigint))`;
    });
    return Array.from({ length: Math.ceil(rows.length / rowsOfStatement) }, (_, index) => {
      const some = rows.slice(index * rowsOfStatement, (index + 1) * rowsOfStatement);
      // Another instance may have seen the token later. Both databases name the columns of VALUES column1 and column2.
      return sql`update tokens set last_used_at = used.column2 from (values ${sql.join(some)}) as used
        where tokens.id = used.column1 and (tokens.last_used_at is null or tokens.last_used_at < used.column2)`;
    });
  }

  return {
    note(tokenId) {
      used.set(tokenId, clock());
    },
    async write() {
      if (used.size === 0) return;
      const noted = used;
      used = new Map();
      try {
        await commit('tokens', async (db) => {
          for (const statement of statements(noted)) await statement.execute(db);
        });
      } catch (error) {
        used = new Map([...noted, ...used]);
        throw error;
      }
    },
  };
}
