import { setImmediate as untilOthersHadTheirTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Metrics } from '../runtime/metrics.ts';
import { removeInPieces } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';

/** Part of the limit that may be added before the bytes are counted again. */
const uncounted = 1 / 16;

/** Limits the total size of the remembered responses of all tokens. */
export function createRememberedLimit({
  storage,
  maxRememberedBytes,
  metrics,
}: {
  readonly storage: Pick<Storage, 'read' | 'commit'>;
  readonly maxRememberedBytes: number;
  readonly metrics: Pick<Metrics, 'droppedResponses'>;
}) {
  // The amount stored by an earlier process is unknown.
  let added = Number.POSITIVE_INFINITY;
  return {
    /** Must be called with the size of each stored response. */
    add(bytes: number): void {
      added += bytes;
    },
    async enforce(): Promise<void> {
      if (added < maxRememberedBytes * uncounted) return;
      added = 0;
      metrics.droppedResponses.inc(await removeResponsesBeyond(storage, maxRememberedBytes));
    },
  };
}

/** Estimated size of column overhead, numbers and index entries, in addition to the texts. */
const bytesPerRow = 300;

/**
 * Removes the oldest responses above the limit, and returns their number. Counts from the newest one in small batches,
 * so that requests are not blocked, and storing a response has no extra cost.
 */
export async function removeResponsesBeyond(
  storage: Pick<Storage, 'read' | 'commit'>,
  maxBytes: number,
): Promise<number> {
  let bytes = 0;
  let before = Number.MAX_SAFE_INTEGER;
  while (bytes <= maxBytes) {
    await untilOthersHadTheirTurn();
    const { rows } = await sql<{ rows: number; bytes: number; oldest: number }>`
      select count(*) as "rows", coalesce(sum(size), 0) as bytes, coalesce(min(created_at), 0) as oldest from (
        select created_at, octet_length(key) + octet_length(headers) + octet_length(body) + ${sql.lit(bytesPerRow)} as size
        from remembered_answers where created_at < ${before} order by created_at desc limit ${sql.lit(rowsAtOnce(maxBytes))}
      ) as piece`.execute(storage.read);
    const [piece] = rows;
    if (piece === undefined || Number(piece.rows) === 0) return 0;
    bytes += Number(piece.bytes);
    before = Number(piece.oldest);
  }
  const answers = { table: 'remembered_answers', time: 'created_at' } as const;
  return removeInPieces(storage, answers, sql`created_at <= ${before}`);
}

/** Batch size: small enough that the last batch hardly exceeds the limit, and that none takes long. */
const rowsAtOnce = (maxBytes: number): number => Math.min(5_000, Math.max(10, Math.floor(maxBytes / 20_000)));
