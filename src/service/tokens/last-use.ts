import { sql } from 'kysely';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';

// Another instance may have seen the token later.
const updateLastUse = batchQuery((db, members) =>
  db
    .updateTable('tokens')
    .from(members)
    .set({ last_used_at: sql<number>`${now} - ${numberOf('ago')}` })
    .whereRef('tokens.id', '=', textOf('id'))
    .where(sql<boolean>`coalesce(last_used_at, 0) < ${now} - ${numberOf('ago')}`),
);

/**
 * Times of last use, kept in memory and written periodically: requests do not wait for it, and a crash loses the
 * latest. `clock` counts milliseconds of a monotonic clock: the database receives times relative to its own clock.
 */
export function createLastUse({ commit }: Pick<Storage, 'commit'>, clock = () => performance.now()) {
  let used = new Map<string, number>();

  return {
    note(tokenId: string): void {
      used.set(tokenId, clock());
    },
    /** Writes the times noted since the last call. On failure, keeps them for the next call. */
    async write(): Promise<void> {
      if (used.size === 0) return;
      const noted = used;
      used = new Map();
      try {
        await commit('tokens', (db) => {
          const uses = [...noted].map(([id, at]) => ({ id, ago: Math.max(0, Math.round(clock() - at)) }));
          return updateLastUse(db, uses);
        });
      } catch (error) {
        used = new Map([...noted, ...used]);
        throw error;
      }
    },
  };
}
