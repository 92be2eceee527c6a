import { type RawBuilder, sql } from 'kysely';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { lastSortKey } from './list.ts';

export type RecordedLockPeriod = ReturnType<typeof periodOf>;

/** A lock that is held comes before those that have ended: its time is the end of its ttl. */
export interface HistoryPosition {
  readonly endedAt: number;
  readonly fence: number;
}

export interface HistoryQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
  /** `held`, or how it ended. */
  readonly kind?: string | undefined;
  /** Times of the end, in milliseconds; `until` is exclusive. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Only older entries: the `next` of the previous page. */
  readonly before?: HistoryPosition | undefined;
  readonly limit: number;
}

/** Rows scanned for a page. Most filters have no index, and on SQLite a scan blocks all other requests. */
const maxLookedAt = 20_000;

/** The holders of locks with the beginning and the end, for locks that are held now and for those that have ended. */
export async function readLockHistory(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  query: HistoryQuery,
  lookAt = maxLookedAt,
) {
  const { prefix, owner, kind, limit } = query;
  const newest = ofLocks(read, now, query)
    .unionAll(ofHistory(read, query))
    .orderBy('ended_at', 'desc')
    .orderBy('fence', 'desc')
    .limit(lookAt);
  let found = read.selectFrom(newest.as('looked_at')).selectAll();
  if (prefix !== undefined) found = found.where('path', '>=', prefix).where('path', '<', `${prefix}${lastSortKey}`);
  if (owner !== undefined) found = found.where('owner', '=', owner);
  if (kind !== undefined) found = found.where('kind', '=', kind);
  const page = await found
    .orderBy('ended_at', 'desc')
    .orderBy('fence', 'desc')
    .limit(limit + 1)
    .execute();
  const shown = page.slice(0, limit);
  const last =
    page.length > limit
      ? shown.at(-1)
      : (
          await newest
            .limit(1)
            .offset(lookAt - 1)
            .execute()
        )[0];
  return {
    /** Newest first. */
    periods: shown.map(periodOf),
    /** Cursor of the next page; undefined on the last one. A page with few or no entries is not always the last. */
    next: last && { endedAt: last.ended_at, fence: last.fence },
  };
}

const common = ['path', 'fence', 'owner', 'origin', 'note', 'acquired_at'] as const;

/** Locks that have not ended, or whose end is not recorded yet. */
const ofLocks = (read: Database, now: Now, query: HistoryQuery) =>
  read
    .selectFrom('locks')
    .select([...common, 'id as lock_id', 'expires_at as ended_at', sql<string | null>`null`.as('ended_by')])
    .select(sql<string>`case when expires_at > (select ${now}) then 'held' else 'expired' end`.as('kind'))
    // For a workspace without the index of paths, so that the locks are read in the order of their ends, and not sorted.
    .where(isAsked('expires_at', query, query.path === undefined ? sql`workspace_id || ''` : sql`workspace_id`));

const ofHistory = (read: Database, query: HistoryQuery) =>
  read
    .selectFrom('lock_history')
    .select([...common, 'lock_id', 'ended_at', 'ended_by', 'kind'])
    .where(isAsked('ended_at', query, sql`workspace_id`));

function isAsked(
  end: 'expires_at' | 'ended_at',
  { workspace, path, from, until, before }: HistoryQuery,
  ofWorkspace: RawBuilder<unknown>,
) {
  const endedAt = sql.ref(end);
  const conditions = [sql`${ofWorkspace} = ${workspace}`];
  if (path !== undefined) conditions.push(sql`path = ${path}`);
  if (from !== undefined) conditions.push(sql`${endedAt} >= ${from}`);
  if (until !== undefined) conditions.push(sql`${endedAt} < ${until}`);
  if (before !== undefined) conditions.push(sql`(${endedAt}, fence) < (${before.endedAt}, ${before.fence})`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** Another version of the service may have recorded other kinds. They are shown unchanged. */
const periodOf = ({ ended_at, fence: _, acquired_at, ...lock }: PeriodRow) => ({
  ...lock,
  acquired_at: asTimestamp(acquired_at),
  ended_at: lock.kind === 'held' ? null : asTimestamp(ended_at),
});

type PeriodRow = Awaited<ReturnType<ReturnType<typeof ofHistory>['execute']>>[number];
