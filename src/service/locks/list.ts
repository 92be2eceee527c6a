import { type SqlBool, sql } from 'kysely';
import { maxLockPathBytes, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { type LockRow, toLock } from './find.ts';
import { isPresent } from './waits.ts';

export interface LockQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** With --windows-paths, the prefix in folded case. */
  readonly foldedPrefix?: string | undefined;
  readonly owner?: string | undefined;
  /** The last path of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** `next` is the `after` of the next page; undefined on the last page. */
export async function listLocks(storage: Storage, query: LockQuery) {
  const { locks, next } = await listActiveLocks(storage, query);
  return { locks: locks.map(toLock), next };
}

export const locksWithIds = ({ read, now }: Storage, workspace: string, ids: readonly string[]): Promise<LockRow[]> =>
  read
    .selectFrom('locks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where(sql<boolean>`expires_at > (select ${now})`)
    .where('id', 'in', ids)
    .orderBy('path')
    .execute();

export interface ActiveLock extends LockRow {
  readonly remainingMs: number;
}

/** Sorts after every character that a path can contain, in UTF-8 and so in both databases. */
export const lastSortKey = '\u{10FFFF}';

/** Like listLocks(), with all stored columns. */
export async function listActiveLocks({ read, now }: Storage, query: LockQuery) {
  const { workspace, path, prefix, foldedPrefix, owner, after, limit } = query;
  const rows = await read
    .selectFrom('locks')
    .selectAll()
    .select(sql<number>`expires_at - ${now}`.as('remainingMs'))
    .where('workspace_id', '=', workspace)
    .where(sql<boolean>`expires_at > ${now}`)
    .$if(path !== undefined, (locks) => locks.where('path', '=', path ?? ''))
    .$if(prefix !== undefined, (locks) => {
      const [column, start] =
        foldedPrefix === undefined ? (['path', prefix] as const) : (['folded_path', foldedPrefix] as const);
      return locks.where(column, '>=', start ?? '').where(column, '<', `${start}${lastSortKey}`);
    })
    .$if(owner !== undefined, (locks) => locks.where('owner', '=', owner ?? ''))
    .$if(after !== undefined, (locks) => locks.where('path', '>', after ?? ''))
    .orderBy('path')
    .limit(limit + 1)
    .execute();
  const locks: readonly ActiveLock[] = rows.slice(0, limit);
  return { locks, next: rows.length > limit ? locks.at(-1)?.path : undefined };
}

/** The position in a list of locks. Opaque to clients, so that its content can change. */
export const writeCursor = (lastPath: string): string => Buffer.from(lastPath).toString('base64url');

/** RFC 4648: three bytes become four characters. */
export const maxCursorLength = Math.ceil((4 * maxLockPathBytes) / 3);

const notACursor = refused('It is not a cursor of this list. Start again without a cursor.');

export function readCursor(cursor: string): Parsed<string> {
  if (cursor.length > maxCursorLength) return notACursor;
  const path = Buffer.from(cursor, 'base64url').toString();
  return writeCursor(path) === cursor && parseHeldPath(path).ok ? accepted(path) : notACursor;
}

/**
 * Lists for pages. Each query reads a limited number of rows, however many locks there are: SQLite answers on the thread
 * that also answers requests for locks.
 */

/** Every order is that of an index. Ids begin with the time of the lock. */
const columns = { path: 'path', since: 'id', left: 'expires_at' } as const;

export type LockOrder = keyof typeof columns;

export const lockOrders = ['path', 'since', 'left'] as const satisfies readonly LockOrder[];

/** The last lock of the previous page, or the last one that a search has looked at. */
export type LockPosition = readonly [value: string | number, path: string];

export interface LockPageQuery {
  readonly workspace: string;
  /** Finds the locks with all these words in their path, holder, note or run. */
  readonly words: readonly string[];
  readonly by: LockOrder;
  readonly descending: boolean;
  readonly after: LockPosition | undefined;
  readonly limit: number;
}

const searched = ['path', 'owner', 'origin', 'note'] as const;

/** A search looks at this many locks, and continues on the next page. */
export const maxSearched = 2_000;

/** Locks are counted up to this number. */
export const maxCounted = 10_000;

/** `next` is the `after` of the next page; undefined on the last page. */
export async function listLockPage(storage: Storage, query: LockPageQuery) {
  const { by, limit, words } = query;
  const positionOf = (row: LockRow): LockPosition => [row[columns[by]], row.path];
  const ordered = orderedLocks(storage, query);
  if (words.length === 0) {
    const rows = await ordered.limit(limit + 1).execute();
    const locks = rows.slice(0, limit);
    return { locks, next: rows.length > limit ? locks.map(positionOf).at(-1) : undefined };
  }
  const like = sql.raw(storage.dialect === 'postgres' ? 'ilike' : 'like');
  const hasWord = (word: string) => {
    const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const matches = searched.map((column) => sql`${sql.ref(column)} ${like} ${pattern} escape '\\'`);
    return sql<SqlBool>`(${sql.join(matches, sql` or `)})`;
  };
  const rows = await storage.read
    .selectFrom(ordered.limit(maxSearched).as('searched'))
    .selectAll()
    .where(({ and }) => and(words.map(hasWord)))
    .limit(limit + 1)
    .execute();
  const locks = rows.slice(0, limit);
  if (rows.length > limit) return { locks, next: locks.map(positionOf).at(-1) };
  const [last] = await ordered
    .offset(maxSearched - 1)
    .limit(1)
    .execute();
  return { locks, next: last && positionOf(last) };
}

function orderedLocks({ read, now }: Storage, { workspace, by, descending, after }: LockPageQuery) {
  const column = columns[by];
  const direction = descending ? 'desc' : 'asc';
  const sign = descending ? sql.raw('<') : sql.raw('>');
  const isNext = ([value, lastPath]: LockPosition) =>
    by === 'left'
      ? sql<SqlBool>`(expires_at, path) ${sign} (${value}, ${lastPath})`
      : sql<SqlBool>`${sql.ref(column)} ${sign} ${value}`;
  return (
    read
      .selectFrom('locks')
      .selectAll()
      // Without the index of paths, the database takes the one that has this order, instead of sorting all locks.
      .where(
        by === 'left' ? sql<SqlBool>`workspace_id || '' = ${workspace}` : sql<SqlBool>`workspace_id = ${workspace}`,
      )
      .where(sql<SqlBool>`expires_at > (select ${now})`)
      .$if(after !== undefined, (locks) => locks.where(after === undefined ? sql<SqlBool>`true` : isNext(after)))
      .orderBy(column, direction)
      .$if(by === 'left', (locks) => locks.orderBy('path', direction))
  );
}

/** The number of locks of each workspace, up to maxCounted: those stored, without the few that have expired. */
export async function countLocks({ read, now }: Storage, only?: string): Promise<ReadonlyMap<string, number>> {
  const stored = sql<number>`(select count(*) from
    (select 1 from locks where workspace_id = workspaces.id limit ${sql.lit(maxCounted + 1)}) as counted)`;
  const [workspaces, expired] = await Promise.all([
    read
      .selectFrom('workspaces')
      .select(['id', stored.as('locks')])
      .$if(only !== undefined, (all) => all.where('id', '=', only ?? ''))
      .execute(),
    read
      .selectFrom((from) =>
        from
          .selectFrom('locks')
          .select('workspace_id as id')
          .where(sql<SqlBool>`expires_at <= (select ${now})`)
          // The index of ends: that of workspaces, which grouping suggests, has all locks.
          .orderBy('expires_at')
          .limit(maxCounted)
          .as('expired'),
      )
      .select(['id', ({ fn }) => fn.countAll<number>().as('locks')])
      .groupBy('id')
      .execute(),
  ]);
  const expiredOf = new Map(expired.map(({ id, locks }) => [id, Number(locks)]));
  return new Map(workspaces.map(({ id, locks }) => [id, Math.max(0, Number(locks) - (expiredOf.get(id) ?? 0))]));
}

/** Locks of an owner that are looked at to find those that others wait for, or that end soon. */
const maxOwnSearched = 1_000;

/** Others who wait for locks of the bearer, longest first. */
export const waitsForOwnLocks = ({ read, now }: Storage, bearer: Bearer, limit: number) =>
  read
    .selectFrom(ownLocksOf({ read, now }, bearer).limit(maxOwnSearched).as('locks'))
    .innerJoin('wait_paths as line', (join) =>
      join
        .onRef('line.workspace_id', '=', 'locks.workspace_id')
        .on('line.path', '=', sql<string>`coalesce(locks.folded_path, locks.path)`),
    )
    .innerJoin('waits', 'waits.id', 'line.wait_id')
    .where(isPresent(sql`(select ${now})`))
    .select(['locks.workspace_id as workspace', 'locks.path', 'locks.id'])
    .select(['waits.id as waitId', 'waits.owner', 'waits.origin', 'waits.note', 'waits.since'])
    .orderBy('waits.since')
    .orderBy('line.path')
    .limit(limit)
    .execute();

/** What the owner of a bearer waits for, with each of its tokens. */
export const waitsOfOwner = ({ read, now }: Storage, { owner, workspaces }: Bearer, limit: number) =>
  read
    .selectFrom('waits')
    .innerJoin('wait_paths as line', 'line.wait_id', 'waits.id')
    .where('waits.owner', '=', owner)
    .where(isPresent(sql`(select ${now})`))
    .$if(workspaces !== null, (waits) => waits.where('waits.workspace_id', 'in', workspaces ?? []))
    .select(['waits.workspace_id as workspace', 'line.asked_path as path', 'line.path as line', 'waits.id as waitId'])
    .select([
      'waits.since',
      sql<number | null>`case when told_at is null then null else present_until end`.as('keptUntil'),
    ])
    .orderBy('waits.since')
    .orderBy('line.position')
    .limit(limit)
    .execute();

/** Locks that the owner took by hand, and that end within this time. */
export const ownLocksEndingWithin = (storage: Storage, bearer: Bearer, ms: number, limit: number): Promise<LockRow[]> =>
  storage.read
    .selectFrom(ownLocksOf(storage, bearer).limit(maxOwnSearched).as('locks'))
    .selectAll()
    .where('origin', 'is', null)
    .where(sql<SqlBool>`expires_at <= (select ${storage.now}) + ${ms}`)
    .orderBy('expires_at')
    .limit(limit)
    .execute();

/** Locks that a bearer may renew and release, by workspace and path, and the number of all of them, up to maxCounted. */
export async function listOwnLocks(storage: Storage, bearer: Bearer, limit: number) {
  const own = ownLocksOf(storage, bearer);
  const rows = await own
    .orderBy('workspace_id')
    .orderBy('path')
    .limit(limit + 1)
    .execute();
  const locks = rows.slice(0, limit);
  if (rows.length <= limit) return { locks, all: locks.length };
  const counted = own
    .clearSelect()
    .select('path')
    .limit(maxCounted + 1)
    .as('counted');
  const { all } = await storage.read
    .selectFrom(counted)
    .select(({ fn }) => fn.countAll<number>().as('all'))
    .executeTakeFirstOrThrow();
  return { locks, all: Number(all) };
}

const ownLocksOf = ({ read, now }: Pick<Storage, 'read' | 'now'>, { owner, workspaces }: Bearer) =>
  read
    .selectFrom('locks')
    .selectAll()
    .where('owner', '=', owner)
    .where(sql<SqlBool>`expires_at > (select ${now})`)
    .$if(workspaces !== null, (locks) => locks.where('workspace_id', 'in', workspaces ?? []));
