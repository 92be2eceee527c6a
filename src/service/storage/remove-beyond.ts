import { sql } from 'kysely';
import type { Storage } from './storage.ts';

/** Beside their texts rows have names, numbers, and an entry of each index. */
const bytesPerRow = 300;

/** So few that the last piece goes hardly beyond, and none takes long. */
const rowsAtOnce = (maxBytes: number): number => Math.min(5_000, Math.max(10, Math.floor(maxBytes / 20_000)));
const removedAtOnce = 1_000;

interface Piece {
  readonly rows: number;
  readonly bytes: number;
  readonly oldest: number;
}

/**
 * Removes the oldest of the remembered answers beyond so many bytes, and gives how many. It goes from the youngest to the
 * oldest in pieces, so that nobody waits for it, and costs nothing to those who remember.
 */
export async function removeAnswersBeyond(
  { read, commit }: Pick<Storage, 'read' | 'commit'>,
  maxBytes: number,
): Promise<number> {
  let bytes = 0;
  let before = Number.MAX_SAFE_INTEGER;
  while (bytes <= maxBytes) {
    const { rows: pieces } = await sql<Piece>`
      select count(*) as "rows", coalesce(sum(size), 0) as bytes, coalesce(min(created_at), 0) as oldest from (
        select created_at, octet_length(key) + octet_length(headers) + octet_length(body) + ${sql.lit(bytesPerRow)} as size
        from remembered_answers where created_at < ${before} order by created_at desc limit ${sql.lit(rowsAtOnce(maxBytes))}
      ) as piece`.execute(read);
    const [piece] = pieces;
    if (piece === undefined || Number(piece.rows) === 0) return 0;
    bytes += Number(piece.bytes);
    before = Number(piece.oldest);
  }
  let removed = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await commit('global', (db) =>
      sql`delete from remembered_answers where (token_id, workspace_id, key) in (
        select token_id, workspace_id, key from remembered_answers where created_at <= ${before} order by created_at limit ${sql.lit(removedAtOnce)}
      )`.execute(db),
    );
    removed += Number(numAffectedRows);
    if (numAffectedRows < BigInt(removedAtOnce)) return removed;
  }
}
