import { type Selectable, type SqlBool, sql } from 'kysely';
import { byPath } from '../../interface/lock-path.ts';
import { type Lock, type LockType, lockTypes } from '../../interface/resources.ts';
import { inSlices } from '../runtime/map-in-slices.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { Bearer } from '../tokens/tokens.ts';

/** The active lock on each path, in input order. */
export const findLocks = async (
  db: Database,
  now: Now,
  keys: readonly LockKey[],
): Promise<readonly (StoredLock | undefined)[]> =>
  (await findRows(db, now, keys)).map((row) => (isActive(row) ? row : undefined));

/** Coalesces concurrent lookups outside of transactions. */
export const findCommittedLock = coalesceReads(findLocks);

/** Takes a few milliseconds on SQLite, and other requests wait meanwhile. */
const maxFoundAtOnce = 1_000;

/** Like findLocks(), outside of transactions, for any number of paths. */
export const findManyLocks = ({ read, now }: Pick<Storage, 'read' | 'now'>, keys: readonly LockKey[]) =>
  inSlices(keys, maxFoundAtOnce, (slice) => findLocks(read, now, slice));

export interface StoredLock extends LockRow {
  readonly remainingMs: number;
}

export interface LockKey {
  readonly workspace: string;
  readonly path: string;
}

const selectLocks = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) =>
      join.on('locks.workspace_id', '=', textOf('workspace')).on('locks.path', '=', textOf('path')),
    )
    .selectAll('locks')
    .select([inputIndex.as('index'), sql<number>`expires_at - ${now}`.as('remainingMs')]),
);

export const isActive = (row: StoredLock | undefined): row is StoredLock => row !== undefined && row.remainingMs > 0;

/** With locks that have expired, and whose rows have not been removed yet. */
export const findRows = async (
  db: Database,
  now: Now,
  keys: readonly LockKey[],
): Promise<readonly (StoredLock | undefined)[]> => inInputOrder(keys, await selectLocks(db, now, keys));

export type LockRow = Selectable<Tables['locks']>;

export const toLock = (row: LockRow): Lock => ({
  id: row.id,
  path: row.path,
  type: typeOf(row.type),
  owner: row.owner,
  origin: row.origin,
  note: row.note,
  acquired_at: asTimestamp(row.acquired_at),
  expires_at: asTimestamp(row.expires_at),
  fence: row.fence,
  lease: row.lease_id,
});

// A newer version of the service may have stored a type that this one does not support.
const typeOf = (text: string): LockType => lockTypes.find((type) => type === text) ?? 'exclusive';

/** Each order is that of an index. Ids begin with the time of the lock. */
const columns = { path: 'path', since: 'id' } as const;

type LockOrder = keyof typeof columns;

export interface LockQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
  /** Finds the locks with all these words in their path, holder, note or run. */
  readonly words?: readonly string[];
  readonly by?: LockOrder;
  /** The path or id of the last lock of the previous page, or of the last one that a search has looked at. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Sorts after every character that a path can contain, in UTF-8 and so in both databases. */
const lastSortKey = '\u{10FFFF}';

const searched = ['path', 'owner', 'origin', 'note'] as const;

/** A search looks at this many locks, and continues on the next page. */
export const maxSearched = 2_000;

export const maxCounted = 10_000;

/**
 * `next` is the `after` of the next page; undefined on the last page. Each query reads a limited number of rows, however
 * many locks there are: SQLite answers on the thread that also answers requests for locks.
 */
export async function listLocks(storage: Storage, query: LockQuery) {
  const { by = 'path', limit, words = [] } = query;
  const positionOf = (row: LockRow): string => row[columns[by]];
  const ordered = orderedLocks(storage, query, by);
  const like = sql.raw(storage.dialect === 'postgres' ? 'ilike' : 'like');
  const hasWord = (word: string) => {
    const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const matches = searched.map((column) => sql`${sql.ref(column)} ${like} ${pattern} escape '\\'`);
    return sql<SqlBool>`(${sql.join(matches, sql` or `)})`;
  };
  const rows = await storage.read
    .selectFrom(ordered.limit(words.length === 0 ? limit + 1 : maxSearched).as('looked_at'))
    .selectAll()
    .where(({ and }) => and(words.map(hasWord)))
    .limit(limit + 1)
    .execute();
  const locks = rows.slice(0, limit);
  if (rows.length > limit) return { locks, next: locks.map(positionOf).at(-1) };
  if (words.length === 0) return { locks, next: undefined };
  const last = await ordered
    .limit(1)
    .offset(maxSearched - 1)
    .executeTakeFirst();
  return { locks, next: last && positionOf(last) };
}

const activeLocks = ({ read, now }: Pick<Storage, 'read' | 'now'>) =>
  read.selectFrom('locks').selectAll().where(sql<SqlBool>`expires_at > (select ${now})`);

function orderedLocks(storage: Storage, query: LockQuery, by: LockOrder) {
  const { workspace, path, prefix, owner, after } = query;
  const column = columns[by];
  let locks = activeLocks(storage)
    .select(sql<number>`expires_at - (select ${storage.now})`.as('remainingMs'))
    .where('workspace_id', '=', workspace);
  if (path !== undefined) locks = locks.where('path', '=', path);
  if (prefix !== undefined) {
    locks = locks.where('path', '>=', prefix).where('path', '<', `${prefix}${lastSortKey}`);
  }
  if (owner !== undefined) locks = locks.where('owner', '=', owner);
  if (after !== undefined) locks = locks.where(column, '>', after);
  return locks.orderBy(column);
}

/** Active locks, by path. */
export const locksWithIds = async (
  storage: Storage,
  workspace: string,
  ids: readonly string[],
): Promise<readonly LockRow[]> =>
  (await activeLocks(storage).where('workspace_id', '=', workspace).where('id', 'in', ids).execute()).toSorted(byPath);

/** The number of locks of each workspace, up to maxCounted: those stored, without the few that have expired. */
export async function countLocks({ read, now }: Storage, only?: string): Promise<ReadonlyMap<string, number>> {
  const stored = sql`(select count(*) from
    (select 1 from locks where workspace_id = workspaces.id limit ${sql.lit(maxCounted + 1)}) as counted)`;
  // In the order of ends: the index of workspaces, which grouping suggests, has all locks.
  const expired = sql<{ of: string; locks: number }>`(select workspace_id as of, count(*) as locks from
    (select workspace_id from locks where expires_at <= (select ${now}) order by expires_at limit ${sql.lit(maxCounted)})
    as ended group by workspace_id)`;
  const rows = await read
    .selectFrom('workspaces')
    .leftJoin(expired.as('expired'), 'expired.of', 'workspaces.id')
    .select(['id', sql<number>`${stored} - coalesce(expired.locks, 0)`.as('locks')])
    .$if(only !== undefined, (all) => all.where('id', '=', only ?? ''))
    .execute();
  return new Map(rows.map(({ id, locks }) => [id, Math.max(0, Number(locks))]));
}

/** Locks that a bearer may renew and release, by workspace and path, and the number of all of them, up to maxCounted. */
export async function listOwnLocks(storage: Storage, bearer: Bearer, limit: number) {
  const own = ownLocksOf(storage, bearer);
  const listed = own.orderBy('workspace_id').orderBy('path');
  const rows = await listed.limit(limit + 1).execute();
  const locks = rows.slice(0, limit);
  if (rows.length <= limit) return { locks, all: locks.length };
  const counted = own.clearSelect().select('path');
  const { all } = await storage.read
    .selectFrom(counted.limit(maxCounted + 1).as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('all'))
    .executeTakeFirstOrThrow();
  return { locks, all: Number(all) };
}

export const ownLocksOf = (storage: Pick<Storage, 'read' | 'now'>, { owner, workspaces }: Bearer) =>
  activeLocks(storage)
    .where('owner', '=', owner)
    .$if(workspaces !== null, (locks) => locks.where('workspace_id', 'in', workspaces ?? []));
