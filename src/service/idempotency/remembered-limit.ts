import { sql } from 'kysely';
import type { Metrics } from '../runtime/metrics.ts';
import { removeBeyond } from '../storage/remove-old.ts';
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

const bytes = sql<number>`octet_length(key) + octet_length(result) + ${sql.lit(bytesPerRow)}`;

export const removeResponsesBeyond = (storage: Pick<Storage, 'read' | 'commit'>, maxBytes: number): Promise<number> =>
  removeBeyond(
    storage,
    { table: 'remembered_answers', time: 'created_at' },
    { max: maxBytes, size: bytes, countedAtOnce: rowsAtOnce(maxBytes) },
  );

/** Batch size: small enough that the last batch hardly exceeds the limit, and that none takes long. */
const rowsAtOnce = (maxBytes: number): number => Math.min(5_000, Math.max(10, Math.floor(maxBytes / 20_000)));
