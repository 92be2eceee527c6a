import { type Selectable, sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { lastSortKey } from './list.ts';

export type RecordedLockChange = ReturnType<typeof changeOf>;

export type HistoryPosition = Pick<Selectable<Tables['lock_history']>, 'at' | 'fence' | 'kind'>;

export interface HistoryQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
  readonly kind?: string | undefined;
  /** In milliseconds; `until` is exclusive. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Only older entries: the `next` of the previous page. */
  readonly before?: HistoryPosition | undefined;
  readonly limit: number;
}

/** Rows scanned for a page. Most filters have no index, and on SQLite a scan blocks all other requests. */
const maxLookedAt = 20_000;

export async function readLockHistory({ read }: Pick<Storage, 'read'>, query: HistoryQuery, lookAt = maxLookedAt) {
  const { workspace, path, prefix, owner, kind, from, until, before, limit } = query;
  let rows = read.selectFrom('lock_history').where('workspace_id', '=', workspace);
  if (path !== undefined) rows = rows.where('path', '=', path);
  if (from !== undefined) rows = rows.where('at', '>=', from);
  if (until !== undefined) rows = rows.where('at', '<', until);
  if (before !== undefined) {
    rows = rows
      .where('at', '<=', before.at)
      .where(sql<boolean>`(at, fence, kind) < (${before.at}, ${before.fence}, ${before.kind})`);
  }
  const newest = rows.orderBy('at', 'desc').orderBy('fence', 'desc').orderBy('kind', 'desc');
  let found = read.selectFrom(newest.selectAll().limit(lookAt).as('looked_at')).selectAll();
  if (prefix !== undefined) found = found.where('path', '>=', prefix).where('path', '<', `${prefix}${lastSortKey}`);
  if (owner !== undefined) found = found.where('owner', '=', owner);
  if (kind !== undefined) found = found.where('kind', '=', kind);
  const page = await found
    .orderBy('at', 'desc')
    .orderBy('fence', 'desc')
    .orderBy('kind', 'desc')
    .limit(limit + 1)
    .execute();
  const shown = page.slice(0, limit);
  const last =
    page.length > limit
      ? shown.at(-1)
      : await newest
          .select(['at', 'fence', 'kind'])
          .limit(1)
          .offset(lookAt - 1)
          .executeTakeFirst();
  return {
    /** Newest first. */
    changes: shown.map(changeOf),
    /** Cursor of the next page; undefined on the last one. A page with few or no changes is not always the last. */
    next: last && { at: last.at, fence: last.fence, kind: last.kind },
  };
}

/** Another version of the service may have recorded other kinds. They are shown unchanged. */
const changeOf = ({ at, fence: _, workspace_id: __, ...change }: Selectable<Tables['lock_history']>) => ({
  ...change,
  at: asTimestamp(at),
});
