import { type RawBuilder, sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';

/** When tokens were used, kept in memory and written now and then: a request does not wait for it, and a kill loses it. */
export interface LastUse {
  note(tokenId: string): void;
  /** Writes what was noted since the last time; on failure, keeps it for the next. */
  write(): Promise<void>;
}

/** Stays far below the parameters that a statement of either database may have. */
const rowsOfStatement = 500;

/** Milliseconds of any clock that only goes forward: the database gets a distance to its own now. */
export function createLastUse({ commit, now }: Pick<Storage, 'commit' | 'now'>, clock: () => number): LastUse {
  let used = new Map<string, number>();

  function statements(noted: ReadonlyMap<string, number>): RawBuilder<unknown>[] {
    const rows = [...noted].map(([id, at]) => {
      const ago = Math.max(0, Math.round(clock() - at));
      return sql`(${id}, cast(${now} - ${ago} as bigint))`;
    });
    return Array.from({ length: Math.ceil(rows.length / rowsOfStatement) }, (_, index) => {
      const some = rows.slice(index * rowsOfStatement, (index + 1) * rowsOfStatement);
      // Another instance may have seen the token later. Both databases call the columns of VALUES so.
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
