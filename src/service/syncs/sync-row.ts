import type { Selectable } from 'kysely';
import { type Sync, syncStatuses } from '../../interface/resources.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp, asTimestampOrNull } from '../storage/timestamp.ts';

export type SyncRow = Selectable<Tables['syncs']>;

export const syncOf = (row: SyncRow): Sync => ({
  sync_id: row.id,
  // Only this folder writes the column.
  status: syncStatuses.find((status) => status === row.status) ?? 'queued',
  branch: row.branch,
  estimated_objects: row.estimated_objects,
  received_objects: row.received_objects,
  head: row.head,
  error: row.error,
  created_at: asTimestamp(row.created_at),
  started_at: asTimestampOrNull(row.started_at),
  finished_at: asTimestampOrNull(row.finished_at),
});
